"""`specviz run`: one request, stored; its JSON is `docs/schemas/run.schema.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from specviz.commands.options import (
    DbOption,
    JsonOption,
    KOption,
    ModelOption,
    ServerOption,
    note,
)
from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.errors import UsageError
from specviz.methods import Method


def run(
    prompt: Annotated[
        str | None, typer.Option(help="The user message; - reads it from standard input.")
    ] = None,
    prompt_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|-", help="File with the user message, which may be longer than a command."
        ),
    ] = None,
    engine: Annotated[
        EngineKind | None,
        typer.Option(help="What answers (default: vllm with --server, embedded without)."),
    ] = None,
    server: ServerOption = None,
    method: Annotated[
        Method | None,
        typer.Option(
            help="Drafting method (default: the best that the model has a draft for, or what "
            "the server uses)."
        ),
    ] = None,
    k: KOption = None,
    temperature: Annotated[float, typer.Option(help="Sampling temperature; 0 is greedy.")] = 0.0,
    top_p: Annotated[float, typer.Option(help="Nucleus sampling; 1 is off.")] = 1.0,
    top_k: Annotated[int, typer.Option(help="Draw from the K most likely tokens; 0 is off.")] = 0,
    spec_k: Annotated[
        int | None,
        typer.Option(help="K of this request, 0 for none: asked of a server with a policy."),
    ] = None,
    max_tokens: Annotated[int, typer.Option(help="Output tokens at most.")] = 128,
    seed: Annotated[
        int | None, typer.Option(help="Sampling seed: makes a sampled run repeatable.")
    ] = None,
    model: ModelOption = None,
    draft: Annotated[
        Path | None,
        typer.Option(help="Folder of the draft model or head (default: one that fits)."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=VALUE for the embedded engine: shape=chain|tree, "
            "dtype=auto|bfloat16|float32, acceptance=exact|typical, "
            "draft_sampling=sampled|greedy, device=auto|cpu|cuda."
        ),
    ] = None,
    trace: Annotated[
        bool,
        typer.Option("--trace/--no-trace", help="Record draft tokens and their probabilities."),
    ] = True,
    db: DbOption = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="URL of the specviz app that should store the run (uses SPECVIZ_INGEST_TOKEN).",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Answer one prompt, show every accept/reject decision, and store the run."""
    from specviz.commands.single_run import run_once

    asked = Prompt(_message(prompt, prompt_file))
    if engine is None:
        engine = EngineKind.VLLM if server else EngineKind.EMBEDDED
    config = RunConfig(
        engine=engine,
        method=method or _usual_method(engine, model, draft),
        k=k,
        sampling=Sampling(temperature, top_p, max_tokens, seed, top_k, spec_k),
        model=model,
        draft=str(draft) if draft else None,
        server_url=server,
        traced=trace,
        options=_options(option or []),
    )
    raise typer.Exit(run_once(config, asked, db, to=to, as_json=as_json))


def _message(prompt: str | None, file: Path | None) -> str:
    """The text of either option; of a file without the line end that editors and echo add."""
    from specviz.prompts.files import read_text

    if (prompt is None) == (file is None):
        raise UsageError("Give the prompt with --prompt or --prompt-file, - is standard input.")
    if file is None and prompt == "-":
        file = Path(prompt)
    if file is None:
        assert prompt is not None
        return prompt
    return read_text(file).removesuffix("\n").removesuffix("\r")


def _usual_method(engine: EngineKind, model: str | None, draft: Path | None) -> Method | None:
    """A server reports how it drafts; the embedded engine has to be given a method."""
    from specviz.models.pair import usual_method

    if engine is not EngineKind.EMBEDDED:
        return None
    named = str(draft) if draft else None
    return usual_method(model, named, None, note)


def _options(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for name, separator, value in pairs:
        if not (name and separator and value):
            raise UsageError(f"--option {name}{separator}{value} is not NAME=VALUE.")
    return {name: value for name, _, value in pairs}

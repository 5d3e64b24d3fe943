"""The command line: `specviz`, or `python -m specviz`.

`--json` prints one JSON document on standard output and nothing else. Exit code 0 done, 1 failed,
2 wrong usage; an error is one sentence on standard error that says what to do.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from specviz.commands.cost import cost
from specviz.commands.export import export
from specviz.commands.import_ import import_
from specviz.commands.options import DbOption, JsonOption
from specviz.commands.query import query
from specviz.commands.recommend import recommend
from specviz.commands.theory import theory
from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.errors import SpecvizError, UsageError
from specviz.methods import Method

app = typer.Typer(
    name="specviz",
    help="Every accept/reject decision of speculative decoding, seen, stored and weighed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def run(
    prompt: Annotated[str, typer.Option(help="The user message.")],
    engine: Annotated[
        EngineKind | None,
        typer.Option(help="What answers; vllm if --server is given."),
    ] = None,
    server: Annotated[str | None, typer.Option(help="URL of a running server.")] = None,
    method: Annotated[Method | None, typer.Option(help="How tokens are drafted.")] = None,
    k: Annotated[int | None, typer.Option(help="num_speculative_tokens.")] = None,
    temperature: Annotated[float, typer.Option(help="0 is greedy.")] = 0.0,
    top_p: Annotated[float, typer.Option(help="Nucleus sampling.")] = 1.0,
    max_tokens: Annotated[int, typer.Option(help="Longest answer.")] = 128,
    seed: Annotated[int | None, typer.Option(help="Makes a sampled run repeatable.")] = None,
    model: Annotated[str | None, typer.Option(help="Folder or name; the demo target.")] = None,
    draft: Annotated[
        Path | None, typer.Option(help="Folder of a draft model or head; the demo one.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=VALUE for the embedded engine: shape=chain|tree, "
            "dtype=auto|bfloat16|float32, acceptance=exact|typical, "
            "draft_sampling=sampled|greedy, device=auto|cpu|cuda."
        ),
    ] = None,
    no_trace: Annotated[bool, typer.Option(help="Do not trace: no probabilities.")] = False,
    db: DbOption = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="The app that stores the run; SPECVIZ_INGEST_TOKEN lets you in."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Answer one prompt, show every decision, store the run."""
    from specviz.commands.run import run_once

    if engine is None:
        engine = EngineKind.VLLM if server else EngineKind.EMBEDDED
    config = RunConfig(
        engine=engine,
        method=method or _usual_method(engine),
        k=k,
        sampling=Sampling(temperature, top_p, max_tokens, seed),
        model=model,
        draft=str(draft) if draft else None,
        server_url=server,
        traced=not no_trace,
        options=_options(option or []),
    )
    _exit(run_once(config, Prompt(prompt), db, to=to, as_json=as_json))


@app.command(context_settings={"allow_extra_args": True})
def serve(
    context: typer.Context,
    model: Annotated[str | None, typer.Option(help="Folder or name; the demo target.")] = None,
    method: Annotated[Method, typer.Option(help="How tokens are drafted.")] = Method.DRAFT_MODEL,
    draft: Annotated[str | None, typer.Option(help="Draft model or head; the demo draft.")] = None,
    k: Annotated[int | None, typer.Option(help="num_speculative_tokens.")] = None,
    port: Annotated[int | None, typer.Option(help="A free one is chosen.")] = None,
    no_trace: Annotated[bool, typer.Option(help="A stock server, without the plugin.")] = False,
) -> None:
    """Start a vLLM server in the foreground; flags after `--` are vLLM's own."""
    from specviz.commands.serve import serve_foreground

    _exit(
        serve_foreground(
            model, method, draft, k, port, trace=not no_trace, extra_args=tuple(context.args)
        )
    )


@app.command()
def bench(
    plan: Annotated[
        Path | None, typer.Argument(help="A plan (TOML), or the name of a shipped one.")
    ] = None,
    db: DbOption = None,
    resume: Annotated[
        str | None, typer.Option(help="Id of a benchmark: ask only what is missing of it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure a plan: arms interleaved, everything stored, resumable."""
    from specviz.commands.bench import run_bench

    _exit(run_bench(plan, db, resume, as_json=as_json))


for command in (query, export, recommend, cost, theory):
    app.command()(command)
app.command("import")(import_)


@app.command()
def train(
    out: Annotated[Path | None, typer.Option(help="Where the models go: data/models.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    target_minutes: Annotated[float, typer.Option(help="For the target model.")] = 45.0,
    draft_minutes: Annotated[float, typer.Option(help="For the draft model.")] = 21.0,
    seed: Annotated[int, typer.Option(help="Of corpus and weights.")] = 20,
    part: Annotated[
        list[str] | None,
        typer.Option(help="Only this: pair (target and draft), eagle3, medusa, eagle; repeatable."),
    ] = None,
    finetune_draft: Annotated[
        Path | None,
        typer.Option(help="JSONL of prompts, with answers or without, or plain text: adapt to it."),
    ] = None,
    fresh: Annotated[bool, typer.Option(help="Begin again instead of resuming.")] = False,
) -> None:
    """Make the demo family again, or a draft model for texts of your own."""
    from specviz.commands import train as training

    if finetune_draft is not None:
        training.finetune(finetune_draft, out, device=device, seed=seed)
        return
    training.train(
        out,
        device=device,
        target_minutes=target_minutes,
        draft_minutes=draft_minutes,
        seed=seed,
        parts=part or [],
        resume=not fresh,
    )


@app.command()
def doctor(as_json: JsonOption = False) -> None:
    """Say what this machine can run and what is missing."""
    from specviz.commands.doctor import report

    typer.echo(report(as_json=as_json))


def _usual_method(engine: EngineKind) -> Method | None:
    """A server says itself how it drafts; the embedded engine is told."""
    return Method.DRAFT_MODEL if engine is EngineKind.EMBEDDED else None


def _options(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for name, separator, value in pairs:
        if not (name and separator and value):
            raise UsageError(f"--option {name}{separator}{value} is not NAME=VALUE.")
    return {name: value for name, _, value in pairs}


def _exit(code: int) -> None:
    raise typer.Exit(code)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit. Every expected error ends as one sentence."""
    try:
        code: Any = app(args=arguments, standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except UsageError as error:
        _fail(str(error), 2)
    except SpecvizError as error:
        _fail(str(error), 1)
    except typer.Exit as stop:
        sys.exit(stop.exit_code)
    except typer.Abort:
        _fail("Stopped.", 1)
    except KeyboardInterrupt:
        _fail("Stopped.", 1)
    except typer.TyperException as error:
        _fail(f"{error.format_message()} See `specviz --help`.", 2)


def _fail(sentence: str, code: int) -> None:
    print(sentence, file=sys.stderr)
    sys.exit(code)

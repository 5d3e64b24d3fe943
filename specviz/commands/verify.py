"""`specviz verify`: proof, line by line; its JSON is `docs/schemas/verify.schema.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from specviz.commands.options import DraftOption, JsonOption, KOption, ModelOption
from specviz.config import EngineKind
from specviz.errors import SpecvizError, UsageError
from specviz.methods import Method
from specviz.terminal import escaped


def verify(
    server: Annotated[str | None, typer.Option(help="URL of the speculating server.")] = None,
    baseline: Annotated[
        str | None, typer.Option(help="URL of a server of the same model without speculation.")
    ] = None,
    kind: Annotated[
        EngineKind, typer.Option(help="What to start, where no URLs are given.")
    ] = EngineKind.VLLM,
    method: Annotated[
        Method | None,
        typer.Option(
            help="Drafting method to start (default: the best that the model has a draft for)."
        ),
    ] = None,
    model: ModelOption = None,
    draft: DraftOption = None,
    k: KOption = None,
    prompts: Annotated[int, typer.Option(help="Held-out prompts to answer greedily.")] = 12,
    answers: Annotated[int, typer.Option(help="Sampled answers to each of six prompts.")] = 40,
    report: Annotated[
        Path | None,
        typer.Option("-o", "--report", "--html", help="Write the report as an HTML file."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a speculating server against a baseline: counts, verdicts, equal output, times.

    Without URLs both servers are started, one after the other. Exit code 0: all holds, 1: something
    does not, 2: something could not be measured.
    """
    import json
    import sys
    from contextlib import closing

    from specviz.models.pair import usual_method
    from specviz.paths import LOGS
    from specviz.servers.launch.pool import ServerPool
    from specviz.verify.asking import Size
    from specviz.verify.document import document, line, page
    from specviz.verify.finding import exit_code
    from specviz.verify.flow import Pair, pair_to_start
    from specviz.verify.flow import verify as findings_of

    if (server is None) != (baseline is None):
        raise UsageError("Give both --server and --baseline, or neither, and both are started.")
    if prompts < 1 or answers < 2:
        raise UsageError("Verify with at least 1 prompt and 2 sampled answers.")
    if server is not None and baseline is not None:
        pair = Pair(baseline, server, model)
    else:
        method = method or usual_method(model, draft, kind.value, _note)
        pair = pair_to_start(kind, method, model, draft, k, _note)
    found = []
    with closing(ServerPool(LOGS)) as pool:
        for finding in findings_of(pair, Size(prompts=prompts, answers=answers), pool, _note):
            found.append(finding)
            if not as_json:
                print(escaped(line(finding)), flush=True)
    written = document(found)
    if report is not None:
        try:
            report.write_text(page(written), encoding="utf-8")
        except OSError as error:
            raise SpecvizError(f"The report cannot be written to {report} ({error}).") from error
    if as_json:
        print(json.dumps(written, ensure_ascii=False, indent=2))
    elif report is not None:
        print(f"Written to {report}.", file=sys.stderr)
    raise typer.Exit(exit_code(found))


def _note(text: str) -> None:
    import sys

    print(escaped(text), file=sys.stderr, flush=True)

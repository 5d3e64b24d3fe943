"""`specviz doctor`: what this machine can run and what is missing, or whether a draft fits.

The JSON of a draft has `draft`, `target` and `findings`: verdict (ok, warning, refused), subject,
sentence, source.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specviz.commands.options import JsonOption, model_folder
from specviz.errors import UsageError

if TYPE_CHECKING:
    from specviz.checkpoints.finding import Finding

_MARKS = {True: "ok", False: "no", None: "–"}


def doctor(
    draft: Annotated[
        Any,
        typer.Option(
            parser=model_folder,
            metavar="FOLDER",
            help="Folder of a draft model or head, or a GGUF file, to check instead.",
        ),
    ] = None,
    target: Annotated[
        Any,
        typer.Option(
            parser=model_folder,
            metavar="FOLDER",
            help="Its target: a folder or a GGUF file (default: smollm2).",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Report what this machine can run and what is missing, or whether a draft fits its target.

    With --draft the exit code is 1 if the draft cannot be used.
    """
    if draft is not None:
        _check(draft, target, as_json=as_json)
        return
    if target is not None:
        raise UsageError("--target goes with --draft: name the draft model or head too.")
    typer.echo(_report(as_json=as_json))


def _check(draft: Path, target: Path | None, *, as_json: bool) -> None:
    """Print the findings about a pair; exits with 1 where no engine can use it."""
    import json
    from dataclasses import asdict

    from specviz.checkpoints.check import check_pair, is_refused
    from specviz.models.pair import default_model

    target = target or model_folder(default_model())
    found = check_pair(draft, target)
    if as_json:
        named = {
            "draft": str(draft),
            "target": str(target),
            "findings": [asdict(one) for one in found],
        }
        typer.echo(json.dumps(named, indent=2, ensure_ascii=False))
    else:
        typer.echo("\n".join(_lines(found)))
    if is_refused(found):
        raise typer.Exit(1)


def _lines(found: tuple[Finding, ...]) -> list[str]:
    width = max(len(one.subject) for one in found)
    return [f"{one.verdict:>7}  {one.subject:<{width}}  {one.sentence}" for one in found]


def _report(*, as_json: bool) -> str:
    """The findings as text, one per line with its advice below, or as JSON."""
    import json
    from dataclasses import asdict

    from specviz.doctor import examine

    findings = examine()
    if as_json:
        return json.dumps({"findings": [asdict(one) for one in findings]}, indent=2)
    width = max(len(one.name) for one in findings)
    lines = []
    for one in findings:
        lines.append(f"{_MARKS[one.ok]:>3}  {one.name:<{width}}  {one.detail}")
        if one.advice:
            lines.append(f"     {'':<{width}}  → {one.advice}")
    return "\n".join(lines)

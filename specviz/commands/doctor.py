"""`specviz doctor`: what this machine can run and what is missing."""

from __future__ import annotations

import typer

from specviz.commands.options import JsonOption

_MARKS = {True: "ok", False: "no", None: "–"}


def doctor(as_json: JsonOption = False) -> None:
    """Report what this machine can run and what is missing."""
    typer.echo(_report(as_json=as_json))


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

"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def _location(text: str) -> Any:
    from specviz.store.location import parse_location

    return parse_location(text)


JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document, nothing else.")]
DbOption = Annotated[
    Any,  # Location | None, but typer knows no unions
    typer.Option(
        "--db",
        parser=_location,
        metavar="FILE|LAKE",
        help="The DuckDB file of the runs, or a shared store (ducklake:postgres:…;data=…).",
    ),
]

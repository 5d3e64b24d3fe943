"""`specviz query`: SQL on the store, as a table for people or as JSON for programs.

The JSON: columns (each name, type), rows (lists in the order of the columns), truncated,
elapsed_ms, data_as_of; the schema is `docs/schemas/query.schema.json`.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specviz.commands.options import DbOption, JsonOption, existing
from specviz.terminal import escaped

if TYPE_CHECKING:
    from specviz.store import Location

ROWS = 100
CELL_CHARACTERS = 200
NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL")
PIPE_WIDTH = 100_000
"""Width of the table where the output is piped, so that nothing is cut off."""

Limit = Annotated[int, typer.Option(min=1, help="Maximum number of rows to read.")]


def query(
    sql: Annotated[str, typer.Argument(help="One read-only statement: SELECT …, DESCRIBE runs.")],
    db: DbOption = None,
    limit: Limit = ROWS,
    as_json: JsonOption = False,
) -> None:
    """Query the stored runs with SQL: read-only, limited to 10 s."""
    found = _answer(sql, db, limit)
    if as_json:
        print(escaped(json.dumps(found, ensure_ascii=False, indent=2)))
    else:
        _print(found)


def _answer(sql: str, db: Location | None, limit: int) -> dict[str, Any]:
    """Read from the database, or from the app that owns it. Raises UsageError or StoreError."""
    from specviz.remote.query import ask
    from specviz.store import StoreBusy, open_store
    from specviz.store.sql.result import document
    from specviz.store.sql.sandbox import run_sql

    try:
        with open_store(existing(db)) as store:
            return document(run_sql(store, sql, limit_rows=limit))
    except StoreBusy as busy:
        if busy.url is None:
            raise
        print(f"The app at {busy.url} owns the database and answers the query.", file=sys.stderr)
        return ask(busy.url, sql, limit, secret=busy.secret)


def _print(found: dict[str, Any]) -> None:
    """Every cell as plain text: model text must not reach the terminal as control sequences."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from specviz.analysis.text import counted, terminal_text

    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in found["columns"]:
        right = str(column["type"]).lstrip("UH").startswith(NUMBERS) or _is_integer(column["type"])
        table.add_column(Text(terminal_text(column["name"])), justify="right" if right else "left")
    for row in found["rows"]:
        table.add_row(*(_cell(value) for value in row))
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPE_WIDTH)
    console.print(table)
    rows = len(found["rows"])
    more = f"; there are more: --limit {10 * rows}" if found["truncated"] else ""
    shown = f"{counted(rows, 'row')}, {found['elapsed_ms']:.0f} ms{more}"
    Console(stderr=True, highlight=False).print(Text(shown, style="dim"), soft_wrap=True)


def _is_integer(kind: str) -> bool:
    return kind in ("BIGINT", "SMALLINT", "TINYINT", "UBIGINT", "USMALLINT", "UTINYINT")


def _cell(value: Any) -> Any:
    from rich.text import Text

    from specviz.analysis.text import shortened, terminal_text

    if value is None:
        return Text("NULL", style="dim")
    if isinstance(value, str):
        text = value
    elif isinstance(value, float):
        text = f"{value:.6g}"
    else:
        text = json.dumps(value, ensure_ascii=False)
    return Text(shortened(terminal_text(text), CELL_CHARACTERS))

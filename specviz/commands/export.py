"""`specviz export`: runs, benchmarks and imported results as a file, or a full backup."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specviz.commands.options import DbOption, JsonOption, existing
from specviz.errors import UsageError

if TYPE_CHECKING:
    from specviz.store import Location
    from specviz.store.exchange import Exported

Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="RUN…", help="Ids of runs, benchmarks, groups or imported results."),
]
Out = Annotated[
    Path, typer.Option("-o", "--out", help="Output file, or an empty folder for Parquet.")
]
FORMATS = ("parquet", "jsonl", "csv", "html")


def export(
    ids: Ids = None,
    out: Out = ...,  # type: ignore[assignment]
    format: Annotated[
        str | None,
        typer.Option(
            help="parquet or jsonl (can be imported again), csv for spreadsheets, html to attach "
            "to a ticket (default: by the file's extension)."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Export the whole database, as a backup.")
    ] = False,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Export runs, benchmarks and imported results to a file."""
    if everything == bool(ids):
        raise UsageError("Give the ids to export, or --all for everything, but not both.")
    done = _exported(None if everything else ids, _format(format, out), out, db)
    if as_json:
        print(json.dumps(done.to_dict(), ensure_ascii=False, indent=2))
        return
    from specviz.analysis.text import counted, size_text

    rows, tables = counted(sum(done.rows.values()), "row"), counted(len(done.rows), "table")
    print(f"{done.path}: {rows} of {tables}, {size_text(done.bytes)}")
    for sentence in done.left_out:
        print(sentence, file=sys.stderr)


def _exported(ids: list[str] | None, kind: str, out: Path, db: Location | None) -> Exported:
    """Export the database, or ask the app that owns it. Raises UsageError or StoreError."""
    from specviz.remote.exchange import fetch
    from specviz.report import export as export_any
    from specviz.store import StoreBusy, open_store
    from specviz.store.exchange import Format

    try:
        with open_store(existing(db)) as store:
            return export_any(store, ids, Format(kind), out)
    except StoreBusy as busy:
        if busy.url is None:
            raise
        print(f"The app at {busy.url} owns the database and does the export.", file=sys.stderr)
        return fetch(busy.url, ids, Format(kind), out, secret=busy.secret)


def _format(given: str | None, out: Path) -> str:
    """The format named, or the one the file's extension stands for. Raises UsageError."""
    kind = given or {".zip": "parquet", ".jsonl": "jsonl", ".html": "html"}.get(out.suffix, "")
    if out.name.endswith(".csv.zip") and given is None:
        kind = "csv"
    if out.is_dir() and given is None:
        kind = "parquet"
    if kind not in FORMATS:
        raise UsageError(f"Name the format with --format: {', '.join(FORMATS)}.")
    return kind

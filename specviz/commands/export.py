"""`specviz export`: runs, benchmarks and imported results as a file, or everything as a backup."""

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
Out = Annotated[Path, typer.Option("-o", "--out", help="The file; an empty folder for Parquet.")]
FORMATS = ("parquet", "jsonl", "csv", "html")


def export(
    ids: Ids = None,
    out: Out = ...,  # type: ignore[assignment]
    format: Annotated[
        str | None,
        typer.Option(
            help="parquet or jsonl to import again, csv for spreadsheets, html to attach to a "
            "ticket; told by the file's ending."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Everything in the database: the backup.")
    ] = False,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write runs, benchmarks and imported results to a file."""
    if everything == bool(ids):
        raise UsageError("Name what to export by its ids, or everything with --all, not both.")
    done = _exported(None if everything else ids, _format(format, out), out, db)
    if as_json:
        print(json.dumps(done.to_dict(), ensure_ascii=False, indent=2))
        return
    from specviz.analysis.text import size_text

    count = sum(done.rows.values())
    print(f"{done.path}: {count:,} rows of {len(done.rows)} tables, {size_text(done.bytes)}")
    for sentence in done.left_out:
        print(sentence, file=sys.stderr)


def _exported(ids: list[str] | None, kind: str, out: Path, db: Location | None) -> Exported:
    """From the database, or from the app that owns it. Raises UsageError or StoreError."""
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
        print(f"The app at {busy.url} owns the database and exports.", file=sys.stderr)
        return fetch(busy.url, ids, Format(kind), out)


def _format(given: str | None, out: Path) -> str:
    """The format that was named or that the file's name tells. Raises UsageError."""
    told = given or {".zip": "parquet", ".jsonl": "jsonl", ".html": "html"}.get(out.suffix, "")
    if out.name.endswith(".csv.zip") and given is None:
        told = "csv"
    if out.is_dir() and given is None:
        told = "parquet"
    if told not in FORMATS:
        raise UsageError(f"Name the format with --format: {', '.join(FORMATS)}.")
    return told

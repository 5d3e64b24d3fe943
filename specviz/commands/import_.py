"""`specviz import`: exports of specviz, and results of other tools."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from specviz.commands.options import DbOption, JsonOption
from specviz.errors import SpecvizError, UsageError
from specviz.methods import Method

if TYPE_CHECKING:
    from specviz.store import Location
    from specviz.store.exchange import Imported, ImportLabels

Take = Callable[[Path], dict[str, Any]]


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="F…", help="Exports of specviz, or results of another tool."),
    ],
    method: Annotated[
        Method | None,
        typer.Option(help="Drafting method of another tool's results, which do not name it."),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(help="Draft tokens per step (num_speculative_tokens) of those results."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name for another tool's results.")] = None,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Import files into the database: each completely or not at all, and nothing is overwritten."""
    from specviz.store.exchange import ImportLabels

    labels = ImportLabels(method, k, name)
    outcomes = _imported(files, labels, db)
    if as_json:
        print(json.dumps({"files": outcomes}, ensure_ascii=False, indent=2))
    failed = 0
    for outcome in outcomes:
        if "error" in outcome:
            failed += 1
            print(_plain(outcome["error"]), file=sys.stderr)
        elif not as_json:
            print(_plain(outcome["sentence"]))
            for note in outcome["notes"]:
                print(f"  {_plain(note)}")
    if failed:
        raise typer.Exit(2)


def _imported(files: list[Path], labels: ImportLabels, db: Location | None) -> list[dict[str, Any]]:
    """Each file's outcome or error, imported directly or through the app that owns the database."""
    from specviz.remote.exchange import send
    from specviz.store import StoreBusy, default_location, open_store
    from specviz.store.exchange import import_file

    for file in files:
        if not file.exists():
            raise UsageError(f"There is no file {file}.")
    try:
        with open_store(db or default_location()) as store:
            return _each(files, lambda file: _described(import_file(store, file, labels)))
    except StoreBusy as busy:
        url, secret = busy.url, busy.secret
        if url is None:
            raise
        print(f"The app at {url} owns the database and does the import.", file=sys.stderr)
        return _each(files, lambda file: send(url, file, labels, secret=secret))


def _each(files: list[Path], take: Take) -> list[dict[str, Any]]:
    outcomes = []
    for file in files:
        try:
            outcomes.append(take(file))
        except SpecvizError as error:
            outcomes.append({"file": file.name, "error": str(error)})
    return outcomes


def _described(imported: Imported) -> dict[str, Any]:
    return {**imported.to_dict(), "sentence": imported.sentence}


def _plain(text: str) -> str:
    """Names and ids come from files: they must not reach the terminal as control sequences."""
    from specviz.analysis.text import terminal_text

    return terminal_text(text)

"""Import of a file: recognise its kind, check its rows, store them."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.analysis.text import counted
from specviz.errors import UsageError
from specviz.memory import return_freed
from specviz.store.exchange.arrival import Arrived, put
from specviz.store.exchange.labels import ImportLabels
from specviz.store.exchange.lines_read import stage_lines
from specviz.store.exchange.parquet_file import DAMAGE, MANIFEST, stage_folder, stage_zip
from specviz.store.exchange.results.reading import Results, read_results, read_specspecs
from specviz.store.exchange.results.specspecs import SPECSPECS, is_log
from specviz.store.exchange.results.storing import put_results
from specviz.store.exchange.staging import Staged, with_current_names
from specviz.store.file.work_folder import work_folder
from specviz.store.store import Store

FIRST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcome of importing one file. `kind`: parquet, jsonl or the tool whose results it has.

    `stored` and `already` list ids by noun: run, benchmark, result. `notes` are sentences.
    """

    file: str
    kind: str
    stored: dict[str, list[str]] = field(default_factory=dict)
    already: dict[str, list[str]] = field(default_factory=dict)
    rows: int = 0
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The outcome as a sentence."""
        parts = []
        if self.stored:
            parts.append(f"imported {_counted(self.stored)} ({self.rows:,} rows)")
        if self.already:
            parts.append(f"{_counted(self.already)} already here")
        return f"{self.file}: {', '.join(parts) or 'nothing to import'}."

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        head = {"file": self.file, "kind": self.kind, "rows": self.rows}
        return {**head, "stored": self.stored, "already": self.already, "notes": list(self.notes)}


def import_file(
    store: Store, path: Path, labels: ImportLabels | None = None, *, name: str | None = None
) -> Imported:
    """Take a file of `export`, or another tool's results, all of it or nothing.

    `labels` add what such results lack; `name` is the file's own name where `path` is a copy.
    Raises UsageError for a file that cannot be taken, StoreError where nothing can be stored.
    """
    name = name or path.name
    labels = labels or ImportLabels()
    try:
        kind = kind_of(path)
        with work_folder() as work:
            if kind in ("results", SPECSPECS):
                results = _results(path, kind, name, labels, work)
                outcome = _stored(store, lambda cursor: put_results(cursor, results))
                notes = results.notes
                kind = results.tool
            else:
                labels.refuse_for_exports()
                staged = _staged(store, path, kind, work)
                outcome = _stored(store, lambda cursor: put(cursor, staged))
                notes = ()
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error
    except OSError as error:
        raise UsageError(f"{name} cannot be read ({error.strerror or error}).") from error
    finally:
        return_freed()
    return Imported(
        name, kind, outcome.stored, outcome.already, outcome.rows, (*notes, *_notes(outcome))
    )


def kind_of(path: Path) -> str:
    """folder, parquet, jsonl, specspecs or results (another tool's JSON), by content.

    Raises UsageError for anything else, saying what it seems to be; OSError.
    """
    if path.is_dir():
        names = [file.name for file in path.iterdir()]
        return SPECSPECS if MANIFEST not in names and is_log(names) else "folder"
    with path.open("rb") as file:
        start = file.read(FIRST_BYTES)
    if not start.strip():
        raise UsageError("The file is empty.")
    if start.startswith(b"PK"):
        names = _names_in_zip(path)
        return SPECSPECS if MANIFEST not in names and is_log(names) else "parquet"
    if start.startswith(b"PAR1"):
        raise UsageError(
            f"This is one table only: import the zip or folder with its {MANIFEST}, or all parts "
            f"of a log of {SPECSPECS}."
        )
    if start[8:12] == b"DUCK":
        raise UsageError("This is a DuckDB file: open it with SPECVIZ_STORE or --db.")
    if start.lstrip().lower().startswith((b"<!doctype", b"<html")):
        raise UsageError("An HTML export is for reading: import the Parquet or JSONL one.")
    if not start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")):
        raise UsageError("This is neither an export of specviz nor results in JSON.")
    return "jsonl" if start.lstrip().startswith(b'{"specviz"') else "results"


def _names_in_zip(path: Path) -> list[str]:
    """None of a damaged one: reading it says what is wrong."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except DAMAGE:
        return []


def _results(path: Path, kind: str, name: str, labels: ImportLabels, work: Path) -> Results:
    if kind == SPECSPECS:
        return read_specspecs(path, name, labels, work)
    return read_results(path, name, labels)


def _staged(store: Store, path: Path, kind: str, work: Path) -> Staged:
    if kind == "folder":
        return with_current_names(stage_folder(path), work)
    if kind == "parquet":
        return with_current_names(stage_zip(path, work), work)
    return store.read(stage_lines, path, work)


def _stored(store: Store, change: Any) -> Arrived:
    outcome = Arrived()

    def write(cursor: DuckDBPyConnection) -> None:
        nonlocal outcome
        outcome = change(cursor)

    store.write(write)
    return outcome


def _notes(outcome: Arrived) -> list[str]:
    notes = []
    if outcome.deleted:
        notes.append(f"Deleted here, and still so: {', '.join(outcome.deleted[:10])}.")
    if saved := sum(outcome.saved.values()):
        notes.append(f"Imported with them: {saved} saved queries and views.")
    if names := [name for kept in outcome.kept.values() for name in kept]:
        listed = json.dumps(names[:10], ensure_ascii=False)
        notes.append(f"What is saved here under the same name stays as it is: {listed}.")
    return notes


def _counted(ids: dict[str, list[str]]) -> str:
    return " and ".join(counted(len(found), noun) for noun, found in ids.items())

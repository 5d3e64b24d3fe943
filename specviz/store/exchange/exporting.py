"""Export of runs, benchmarks and imported results into one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.errors import StoreError, UsageError
from specviz.memory import return_freed
from specviz.store.exchange.csv_file import write_csv
from specviz.store.exchange.lines import write_lines
from specviz.store.exchange.manifest import Manifest
from specviz.store.exchange.parquet_file import write_folder, zip_folder
from specviz.store.exchange.selection import Selection, select, select_all
from specviz.store.file.database import first_line
from specviz.store.file.work_folder import work_folder
from specviz.store.store import Store


class Format(StrEnum):
    """What an export is written as; `specviz.report` makes the HTML."""

    PARQUET = "parquet"
    JSONL = "jsonl"
    CSV = "csv"
    HTML = "html"


ENDINGS = {
    Format.PARQUET: ".parquet.zip",
    Format.JSONL: ".jsonl",
    Format.CSV: ".csv.zip",
    Format.HTML: ".html",
}


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: rows by table, and what was left out, in sentences."""

    path: Path
    format: Format
    bytes: int
    rows: dict[str, int]
    ids: dict[str, list[str]]
    left_out: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        head = {"path": str(self.path), "format": self.format.value, "bytes": self.bytes}
        return {**head, "rows": self.rows, "ids": self.ids, "left_out": list(self.left_out)}


def export(store: Store, ids: Sequence[str] | None, kind: Format, path: Path) -> Exported:
    """Write runs, benchmarks and imported results; `ids` None is everything in the store.

    Parquet into an empty folder gives files in it, anything else one file; nothing is overwritten.
    Raises UsageError for ids and paths that cannot be used, StoreError if it cannot be written.
    """
    try:
        with written(path) as fresh:
            if kind is Format.PARQUET:
                fresh.mkdir()
            manifest = store.read(_write, ids, kind, fresh)
    finally:
        return_freed()
    size = sum(file.stat().st_size for file in ([path] if path.is_file() else path.iterdir()))
    rows = {table: entry.rows for table, entry in manifest.tables.items()}
    return Exported(path, kind, size, rows, manifest.ids, manifest.left_out)


def _write(
    cursor: DuckDBPyConnection, ids: Sequence[str] | None, kind: Format, path: Path
) -> Manifest:
    return _WRITERS[kind](cursor, selected(cursor, ids), path)


def selected(cursor: DuckDBPyConnection, ids: Sequence[str] | None) -> Selection:
    """The rows that ids select, or everything. Raises UsageError."""
    return select_all(cursor) if ids is None else select(cursor, ids)


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """A new path next to `path` to write to; what is there at the end replaces `path`.

    A folder becomes a zip, unless `path` is an empty folder that takes its files. Raises UsageError
    if `path` is taken, StoreError if it cannot be written; nothing is then left behind.
    """
    if path.exists() and not _is_empty_folder(path):
        raise UsageError(f"{path} exists already: name another file with -o.")
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder {path.parent} for the export.")
    try:
        with work_folder(path.parent) as work:
            fresh = work / "export"
            yield fresh
            if fresh.is_dir() and path.is_dir():
                for file in fresh.iterdir():
                    file.rename(path / file.name)
                return
            if path.is_dir():
                raise UsageError(f"{path} is a folder: name a file with -o.")
            if fresh.is_dir():
                zip_folder(fresh, fresh.with_suffix(".zip"))
                fresh = fresh.with_suffix(".zip")
            fresh.rename(path)
    except OSError as error:
        raise StoreError(f"{path} could not be written: {first_line(error)}.") from error


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


_WRITERS: dict[Format, Callable[[DuckDBPyConnection, Selection, Path], Manifest]] = {
    Format.PARQUET: write_folder,
    Format.JSONL: write_lines,
    Format.CSV: write_csv,
}

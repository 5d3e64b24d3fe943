"""The process in which users' SQL runs; `process.py` starts it and kills it.

It reads requests from its standard input. To each it writes {"opened": true} once the data are
open, then the answer: {"columns", "rows", "truncated", "elapsed_ms", "spent"}, {"refused": why} or
{"failed": why}. `spent` says that it has grown and should not be used again.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import duckdb
from duckdb import DuckDBPyConnection

import specviz
from specviz.analysis.text import terminal_text
from specviz.errors import SpecvizError, StoreError, UsageError
from specviz.store.file import lake
from specviz.store.file.database import SETTINGS, first_line
from specviz.store.location import Lake
from specviz.store.quoting import literal
from specviz.store.sql import confinement
from specviz.store.sql.frames import HEADER, packed, unpacked
from specviz.store.sql.guard import checked
from specviz.store.sql.names import allowed_functions

RESULT_BYTES = 64 * 1024**2
SPENT = 4
"""A process that has kept a fourth of what a query may take has had its day."""

WRITING = (
    *("checkpoint_threshold", "storage_compatibility_version", "default_block_size"),
    "allocator_background_threads",  # their stacks count as memory of the query
)
_PATH = re.compile(r"(?<![\w.])/(?:[^\s/'\"]+/)+[^\s'\",:;)]*")
_LOST = (duckdb.IOException, duckdb.FatalException, duckdb.InternalException, duckdb.HTTPException)
"""Errors after which the data are opened again."""


def main(parent: int, folder: str) -> None:
    """The program; `parent` is the process that started it, `folder` is for its own files."""
    confinement.end_with(parent)
    confinement.go_first()
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    allowed_functions()  # looked up before they are needed
    data = Data(Path(folder))
    while (header := requests.read(HEADER.size)) and len(header) == HEADER.size:
        request = unpacked(requests.read(HEADER.unpack(header)[0]))
        try:
            data.open(request)
            _write(answers, {"opened": True})
            answer = _answered(data, request)
        except SpecvizError as error:
            kind = "refused" if isinstance(error, UsageError) else "failed"
            answer = {kind: str(error)}
        _write(answers, answer)


class Data:
    """The snapshot or the lake that is open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._place: Mapping[str, Any] | None = None
        self._connection: DuckDBPyConnection | None = None
        self._is_confined = False

    def open(self, request: Mapping[str, Any]) -> None:
        """Open what the request is about, unless it is open. Raises StoreError."""
        if self._connection is not None and self._place == request["place"]:
            return
        self.close()
        place = self._place = request["place"]
        spill = self._folder / "spill"
        if "file" in place:
            file = Path(place["file"])
            if not self._is_confined:
                self._is_confined = True
                copies = str(file.parent.parent)
                confinement.confine_to(self._folder, [copies, *_program()])
            self._connection = _connect(file, spill)
        else:
            os.environ["PGPASSWORD"] = place["password"]
            shared = Lake(place["catalog"], place["files"])
            self._connection = lake.connect_lake(shared, spill=spill)

    def cursor(self) -> DuckDBPyConnection:
        assert self._connection is not None and self._place is not None
        cursor = self._connection.cursor()
        if "file" not in self._place:
            cursor.execute(f"USE {lake.NAME}")
        return cursor

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def _program() -> list[str]:
    """What Python and DuckDB may still have to read."""
    system = ("/usr", "/lib", "/lib64", "/etc/localtime", "/sys", "/dev/null", "/dev/urandom")
    own = ("/proc/self", "/proc/stat", "/proc/meminfo")
    packages = [path for path in sys.path if path.endswith("-packages")]
    return [*system, *own, sys.prefix, sys.base_prefix, *packages, *specviz.__path__]


def _connect(file: Path, spill: Path) -> DuckDBPyConnection:
    """Raises StoreError."""
    settings = {name: value for name, value in SETTINGS.items() if name not in WRITING}
    try:
        return duckdb.connect(
            file, read_only=True, config={**settings, "temp_directory": str(spill)}
        )
    except duckdb.Error as error:
        raise StoreError(
            f"The copy of the database cannot be read: {first_line(error)}."
        ) from error


def _write(answers: IO[bytes], message: Mapping[str, Any]) -> None:
    try:
        frame = packed(message)
    except ValueError as error:
        frame = packed({"failed": f"The result is {error}: ask for less."})
    answers.write(frame)
    answers.flush()


def _answered(data: Data, request: Mapping[str, Any]) -> dict[str, Any]:
    """Raises UsageError for a statement that may not run, StoreError for one that fails."""
    before = confinement.data_bytes()
    confinement.limit_memory(request["memory"])
    try:
        answer = _executed(data, str(request["sql"]), int(request["limit_rows"]))
    except SpecvizError:
        raise
    except MemoryError as error:
        data.close()
        raise StoreError("The query takes more memory than it may: ask for less.") from error
    except Exception as error:
        if isinstance(error, _LOST):
            data.close()
        raise StoreError(message(error, request["sql"], request["hidden"])) from error
    grown = confinement.data_bytes() - before
    return {**answer, "spent": grown > request["memory"] // SPENT}


def _executed(data: Data, sql: str, limit_rows: int) -> dict[str, Any]:
    began = time.perf_counter()
    with closing(data.cursor()) as cursor:
        cursor.execute("BEGIN TRANSACTION READ ONLY")  # the cursor's end rolls it back
        columns = _begun(cursor, checked(cursor, sql))
        rows = _fetched(cursor, limit_rows + 1, columns)
    return {
        "columns": columns,
        "rows": rows[:limit_rows],
        "truncated": len(rows) > limit_rows,
        "elapsed_ms": (time.perf_counter() - began) * 1000,
    }


def _begun(cursor: DuckDBPyConnection, sql: str) -> list[tuple[str, str]]:
    """Begin the query; names and types of its columns.

    Times with a zone come as text: in Python DuckDB makes them with pytz.
    """
    cursor.execute(sql)
    columns = [(str(one[0]), str(one[1])) for one in cursor.description]
    zoned = ["WITH TIME ZONE" in kind for _, kind in columns]
    if any(zoned):
        names = [f"c{index}" for index in range(len(columns))]
        texts = (f"{n}::VARCHAR" if z else n for n, z in zip(names, zoned, strict=True))
        cursor.execute(
            f"SELECT {', '.join(texts)} FROM query({literal(sql)}) AS t({', '.join(names)})"
        )
    return columns


def _fetched(
    cursor: DuckDBPyConnection, most: int, columns: list[tuple[str, str]]
) -> list[tuple[Any, ...]]:
    """At most `most` rows. Raises StoreError if they are too large to show."""
    has_maps = any("MAP(" in kind for _, kind in columns)
    rows: list[tuple[Any, ...]] = []
    num_bytes = 0
    while len(rows) < most and (row := cursor.fetchone()) is not None:
        num_bytes += _size(row)
        if num_bytes > RESULT_BYTES:
            raise StoreError(
                f"The result is larger than {RESULT_BYTES >> 20} MB: "
                "ask for fewer rows or shorter columns."
            )
        rows.append(_with_text_keys(row) if has_maps else row)
    return rows


def _size(value: Any) -> int:
    total, left = 0, [value]
    while left:
        one = left.pop()
        total += sys.getsizeof(one)
        if isinstance(one, list | tuple):
            left += one
        elif isinstance(one, dict):
            left += one.values()
    return total


def _with_text_keys(value: Any) -> Any:
    """A map's keys may be anything, those of JSON are text."""
    if isinstance(value, dict):
        return {str(key): _with_text_keys(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_with_text_keys(one) for one in value)
    return value


def message(error: Exception, sql: str, hidden: list[str]) -> str:
    """What went wrong while running, as one sentence without this machine's paths."""
    text = re.split(r"\n\s*\n|\nLINE |\nPossible solutions", str(error).strip())[0]
    text = " ".join(line.strip() for line in text.split("\n"))
    for place in hidden:
        text = text.replace(place, "…")
    text = _PATH.sub(lambda found: found[0] if found[0] in sql else "…", text)
    shown = terminal_text(text)
    if len(shown) > 500:
        shown = f"{shown[:499]}…"
    out_of_memory = isinstance(error, duckdb.OutOfMemoryException)
    what = "takes more memory than it may" if out_of_memory else "failed"
    return f"The query {what}: {shown.removesuffix('.') or type(error).__name__}."

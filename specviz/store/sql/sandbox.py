"""Users' SQL on the store: read-only, within a time, a memory and a row limit.

Three walls, each enough against writing: the statement is checked on DuckDB's parse (`guard`), it
runs in a READ ONLY transaction that is rolled back, and the database is opened without access to
files, network and its own configuration (`database.SETTINGS`). DuckDB calls none of this a boundary
against hostile users: the app that offers it stays on loopback.

Time: a watchdog interrupts the cursor until it ends. DuckDB checks for that only between vectors
of 2048 rows and not while it plans; a query that does not stop is left behind after a grace period,
and no other is accepted until it has ended.

Memory: DuckDB's own limits (2 GB of buffers, 4 GB of temporary files) are the database's, so that
queries share them with everything else; what an expression makes beyond them is limited by
`memory_ceiling`. CPU cores cannot be limited: `threads` is the database's.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from specviz.analysis.text import terminal_text
from specviz.errors import SpecvizError, StoreError, UsageError
from specviz.store.sql.guard import checked
from specviz.store.sql.memory_ceiling import memory_ceiling
from specviz.store.sql.result import Column, SqlResult
from specviz.store.store import Store

LIMIT_ROWS = 1_000
MAX_ROWS = 100_000
TIMEOUT_S = 10.0
MEMORY_BYTES = 5 * 1024**3 // 2
"""More than DuckDB's own buffers may take, so that a large query spills before it fails."""

RESULT_BYTES = 64 * 1024**2
GRACE_S = 1.0
INTERRUPT_EVERY_S = 0.02
WAITING_EVERY_S = 0.1

_PATH = re.compile(r"(?<![\w.])/(?:[^\s/'\"]+/)+[^\s'\",:;)]*")

_left_behind: list[threading.Thread] = []
"""Queries that did not stop when interrupted."""


def run_sql(
    store: Store,
    sql: str,
    *,
    limit_rows: int = LIMIT_ROWS,
    timeout_s: float = TIMEOUT_S,
    memory: int = MEMORY_BYTES,
    while_waiting: Callable[[], None] = lambda: None,
) -> SqlResult:
    """The first `limit_rows` rows; `memory` is in bytes. Do not call while holding a cursor.

    `while_waiting` is called ten times a second until the query has ended; what it raises stops
    the query and passes through. Raises UsageError for a statement that may not run, and StoreError
    for one that fails or takes more than its limits.
    """
    if not 1 <= limit_rows <= MAX_ROWS:
        raise UsageError(f"Ask for 1 to {MAX_ROWS:,} rows.")
    if _is_one_left_behind():
        raise StoreError("An earlier query has not stopped yet: try again in a moment.")
    query = _Query(store, sql, limit_rows, timeout_s, memory)
    thread = threading.Thread(target=query.run, name="sql", daemon=True)
    thread.start()
    until = time.monotonic() + timeout_s + GRACE_S
    try:
        while not query.ended.wait(WAITING_EVERY_S) and time.monotonic() < until:
            while_waiting()
    finally:
        query.stop.set()
        if not query.ended.is_set():
            _left_behind.append(thread)
    if not query.ended.is_set():
        raise StoreError(f"{_too_long(timeout_s)}; it is still being stopped.")
    if query.error is not None:
        raise query.error
    assert query.result is not None
    return query.result


def _is_one_left_behind() -> bool:
    """Whether a query that should have stopped still runs, after a grace for the last ones."""
    until = time.monotonic() + GRACE_S
    for thread in _left_behind:
        thread.join(max(0.0, until - time.monotonic()))
    _left_behind[:] = [thread for thread in _left_behind if thread.is_alive()]
    return bool(_left_behind)


@dataclass
class _Query:
    """One query on its own thread and cursor."""

    store: Store
    sql: str
    limit_rows: int
    timeout_s: float
    memory: int
    result: SqlResult | None = None
    error: SpecvizError | None = None
    ended: threading.Event = field(default_factory=threading.Event)
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        try:
            self.result = self._answer()
        except SpecvizError as error:
            self.error = error
        except MemoryError:
            self.error = StoreError("The query takes more memory than it may: ask for less.")
        except Exception as error:
            self.error = StoreError(_message(error, self.sql, self.store, self.timeout_s))
        finally:
            self.ended.set()

    def _answer(self) -> SqlResult:
        began = time.perf_counter()
        with (
            self.store.cursor() as cursor,
            memory_ceiling(self.memory),
            read_only(cursor),
            interrupted_after(cursor, self.timeout_s, self.stop),
        ):
            columns = _executed(cursor, checked(cursor, self.sql))
            rows = _fetched(cursor, self.limit_rows + 1)
        elapsed_ms = (time.perf_counter() - began) * 1000
        kept = tuple(rows[: self.limit_rows])
        return SqlResult(columns, kept, len(rows) > self.limit_rows, elapsed_ms)


@contextmanager
def read_only(cursor: DuckDBPyConnection) -> Iterator[None]:
    """A transaction in which nothing can be written, rolled back at its end."""
    cursor.execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield
    finally:
        cursor.execute("ROLLBACK")


@contextmanager
def interrupted_after(
    cursor: DuckDBPyConnection, timeout_s: float, stop: threading.Event
) -> Iterator[None]:
    """Interrupt what the cursor does after `timeout_s` or at `stop`, again until this is left.

    Again and again, because an interrupt between two of DuckDB's phases is lost.
    """
    over, lock = threading.Event(), threading.Lock()

    def watch() -> None:
        stop.wait(timeout_s)
        while not over.is_set():
            with lock:
                if not over.is_set():
                    cursor.interrupt()
            over.wait(INTERRUPT_EVERY_S)

    threading.Thread(target=watch, name="sql watchdog", daemon=True).start()
    try:
        yield
    finally:
        with lock:
            over.set()
        stop.set()


def _executed(cursor: DuckDBPyConnection, sql: str) -> tuple[Column, ...]:
    """Begin the query. Times with a zone come as text: in Python DuckDB makes them with pytz."""
    cursor.execute(sql)
    columns = tuple(Column(str(one[0]), str(one[1])) for one in cursor.description)
    zoned = ["WITH TIME ZONE" in column.type for column in columns]
    if any(zoned):
        names = [f"c{index}" for index in range(len(columns))]
        texts = (f"{n}::VARCHAR" if z else n for n, z in zip(names, zoned, strict=True))
        quoted = sql.replace("'", "''")
        cursor.execute(f"SELECT {', '.join(texts)} FROM query('{quoted}') AS t({', '.join(names)})")
    return columns


def _fetched(cursor: DuckDBPyConnection, most: int) -> list[tuple[Any, ...]]:
    """At most `most` rows. Raises StoreError if they are too large to show."""
    rows: list[tuple[Any, ...]] = []
    num_bytes = 0
    while len(rows) < most and (row := cursor.fetchone()) is not None:
        num_bytes += _size(row)
        if num_bytes > RESULT_BYTES:
            raise StoreError(
                f"The result is larger than {RESULT_BYTES >> 20} MB: "
                "ask for fewer rows or shorter columns."
            )
        rows.append(row)
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


def _too_long(timeout_s: float) -> str:
    return f"The query was stopped, because it took longer than {timeout_s:g} s"


def _message(error: Exception, sql: str, store: Store, timeout_s: float) -> str:
    """What went wrong while running, as one sentence without this machine's paths."""
    if isinstance(error, duckdb.InterruptException):
        return f"{_too_long(timeout_s)}: ask for less."
    text = re.split(r"\n\s*\n|\nLINE |\nPossible solutions", str(error).strip())[0]
    text = " ".join(line.strip() for line in text.split("\n"))
    for place in store.places:
        text = text.replace(place, "…")
    text = _PATH.sub(lambda found: found[0] if found[0] in sql else "…", text)
    shown = terminal_text(text)
    if len(shown) > 500:
        shown = f"{shown[:499]}…"
    out_of_memory = isinstance(error, duckdb.OutOfMemoryException)
    what = "takes more memory than it may" if out_of_memory else "failed"
    return f"The query {what}: {shown.removesuffix('.') or type(error).__name__}."

"""The store of this process: the one place through which runs are written and read."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from duckdb import DuckDBPyConnection

from specviz.config import Prompt, Run, RunStatus
from specviz.paths import DATA
from specviz.store import benchmark_reads, migrations, runs, tables
from specviz.store.benchmark_log import BenchmarkLog
from specviz.store.benchmark_rows import BenchmarkRow
from specviz.store.database import Database, as_store_error
from specviz.store.owner import Owner, StoreBusy, remove_owner, write_owner
from specviz.store.recorder import StoreRecorder
from specviz.store.run_json import RecordedRequest
from specviz.store.writer import Write, Writer
from specviz.trace import Trace, fold

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

INTERRUPTED = "specviz ended before the run did; what had arrived is kept."

_open_paths: set[Path] = set()
"""Databases this process has open: DuckDB's lock keeps out other processes only."""
_open_lock = threading.Lock()


def default_path() -> Path:
    """`$SPECVIZ_STORE`, else data/specviz.duckdb under the project's root."""
    chosen = os.environ.get("SPECVIZ_STORE")
    return Path(chosen).expanduser() if chosen else DATA / "specviz.duckdb"


def open_store(path: Path) -> Store:
    """Open the database for this process, making or migrating it if needed.

    Runs that a dead process left running become partial. Raises StoreBusy if another process (or
    another Store of this one) has it, StoreError if it is damaged, of another program, made by a
    newer specviz or cannot be written; the file is then as it was.
    """
    path = path.expanduser().resolve()
    with ExitStack() as undo:
        _claim(path)
        undo.callback(_release, path)
        with as_store_error(f"The database {path} cannot be opened"):
            path.parent.mkdir(parents=True, exist_ok=True)
            database = Database(path)
            undo.callback(database.close)
            with database.cursor() as cursor:
                migrations.apply(cursor)
            write_owner(path, url=None)
            undo.callback(remove_owner, path)
            _end_interrupted(database)
        return Store(path, database, undo.pop_all())


class Store:
    """An open database; see `open_store`. Methods may be called from any thread."""

    def __init__(self, path: Path, database: Database, on_close: ExitStack) -> None:
        self.path = path
        self._database = database
        self._on_close = on_close
        self._writer = Writer(database)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit what is queued and give the file up. Does nothing the second time."""
        self._writer.close()
        self._on_close.close()

    def announce(self, url: str) -> None:
        """Tell other processes where this one takes runs. Raises StoreError."""
        with as_store_error("The owner of the database could not be named"):
            write_owner(self.path, url)

    def start_run(self, run: Run) -> None:
        """Save a run that begins. Raises StoreError, also for an id that is taken."""
        self._save(lambda cursor: tables.insert_run(cursor, run))

    def recorder(self, run_id: str, prompt: Prompt) -> StoreRecorder:
        """Begin a request of a run that was started; returns at once. StoreError after `close`."""
        return StoreRecorder(self._writer, run_id, prompt)

    def finish_run(self, run_id: str, status: RunStatus, *, error: str | None = None) -> None:
        """Save how a run ended, now. Raises StoreError."""
        now = datetime.now(UTC)
        self._save(lambda cursor: tables.end_run(cursor, run_id, status, now, error))

    def ingest(self, run: Run, requests: Sequence[RecordedRequest]) -> bool:
        """Save a run that another process recorded, all of it or nothing.

        False if the run is here already; it stays as it is. Raises StoreError.
        """
        stored = True

        def write(cursor: DuckDBPyConnection) -> None:
            nonlocal stored
            stored = not tables.has_run(cursor, run.run_id)
            if stored:
                _write_recording(cursor, run, requests)

        self._save(write)
        return stored

    def trace(self, request_id: str) -> Trace:
        """A request step by step. Raises StoreError if there is none or it never started."""
        with self._reading() as cursor:
            return runs.read_trace(cursor, request_id)

    def run(self, run_id: str) -> Run:
        """Raises StoreError if there is none."""
        with self._reading() as cursor:
            return runs.read_run(cursor, run_id)

    def group(self, group_id: str) -> list[Run]:
        """Arms that were started together, oldest first. Raises StoreError if there is none."""
        with self._reading() as cursor:
            return runs.read_group(cursor, group_id)

    def requests_of(self, run_id: str) -> list[runs.RequestRow]:
        """Requests of a run in the order they were sent; none for an unknown run."""
        with self._reading() as cursor:
            return runs.read_requests(cursor, run_id)

    def recent_runs(self, limit: int = 50, offset: int = 0) -> list[runs.RunRow]:
        """Newest first."""
        with self._reading() as cursor:
            return runs.read_recent(cursor, limit, offset)

    def benchmark_log(self, benchmark_id: str) -> BenchmarkLog:
        """The writing side of one benchmark."""
        return BenchmarkLog(self._writer, benchmark_id)

    def benchmark(self, benchmark_id: str) -> BenchmarkRow:
        """Raises StoreError if there is none."""
        with self._reading() as cursor:
            return benchmark_reads.read_benchmark(cursor, benchmark_id)

    def benchmarks(self, limit: int = 50) -> list[BenchmarkRow]:
        """Newest first."""
        with self._reading() as cursor:
            return benchmark_reads.read_benchmarks(cursor, limit)

    def read(self, query: Callable[[DuckDBPyConnection], T]) -> T:
        """What one of the store's read functions tells. Raises StoreError."""
        with self._reading() as cursor:
            return query(cursor)

    def write(self, change: Write) -> None:
        """Commit one of the store's changing functions, which may be called again if a commit
        fails. Raises StoreError."""
        self._save(change)

    def count_runs(self) -> int:
        """How many runs there are, those of benchmarks and deleted ones left out."""
        with self._reading() as cursor:
            row = cursor.execute(
                "SELECT count(*) FROM runs ANTI JOIN benchmarks "
                "ON runs.group_id = benchmarks.benchmark_id WHERE deleted_at IS NULL"
            ).fetchone()
            assert row is not None
            return int(row[0])

    def query(self, sql: str, params: Sequence[Any] = ()) -> pd.DataFrame:
        """SQL of specviz's own; what users type goes through the sandbox. Raises StoreError."""
        with self._reading() as cursor:
            return cursor.execute(sql, list(params)).df()

    @contextmanager
    def cursor(self) -> Iterator[DuckDBPyConnection]:
        """A cursor for this thread alone; duckdb.Error passes through. Do not nest."""
        with self._database.cursor() as cursor:
            yield cursor

    def _save(self, write: Write) -> None:
        self._writer.submit(write).result()

    @contextmanager
    def _reading(self) -> Iterator[DuckDBPyConnection]:
        """One transaction, so that several queries see the same moment."""
        with as_store_error("The database could not be read"), self._database.cursor() as cursor:
            cursor.begin()
            yield cursor


def _write_recording(
    cursor: DuckDBPyConnection, run: Run, requests: Sequence[RecordedRequest]
) -> None:
    tables.insert_run(cursor, run)
    for request in requests:
        row_id = uuid.uuid4().hex
        tables.insert_request(cursor, row_id, run.run_id, request.prompt, request.started_at)
        row_id = tables.write_events(cursor, row_id, request.started_at, request.events)
        trace = fold(request.events) if request.events else None
        tables.end_request(cursor, row_id, trace, request.status, request.error)


def _end_interrupted(database: Database) -> None:
    """Make partial what a dead process left running, with the figures of what arrived."""
    with database.cursor() as cursor:
        cursor.begin()
        cursor.execute("SELECT request_id, fidelity FROM requests WHERE status = 'running'")
        for request_id, fidelity in cursor.fetchall():
            trace = runs.read_trace(cursor, request_id) if fidelity else None
            tables.end_request(cursor, request_id, trace, RunStatus.PARTIAL, INTERRUPTED)
        cursor.execute(
            "UPDATE runs SET status = 'partial', error = ? WHERE status = 'running'", [INTERRUPTED]
        )
        cursor.execute(
            "UPDATE benchmarks SET status = 'partial', error = ? WHERE status = 'running'",
            [INTERRUPTED],
        )
        cursor.commit()


def _claim(path: Path) -> None:
    with _open_lock:
        if path in _open_paths:
            raise StoreBusy(path, Owner(os.getpid()))
        _open_paths.add(path)


def _release(path: Path) -> None:
    with _open_lock:
        _open_paths.discard(path)

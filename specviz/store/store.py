"""The store of this process: the one place through which runs are written and read."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

from duckdb import DuckDBPyConnection

from specviz.config import Prompt, Run, RunStatus
from specviz.errors import StoreError
from specviz.store.benchmarks.log import BenchmarkLog
from specviz.store.file.database import Database, as_store_error
from specviz.store.file.lake import LakeDatabase
from specviz.store.file.work_folder import remove_abandoned
from specviz.store.file.writer import Writer
from specviz.store.location import Lake, Location
from specviz.store.migrations import apply
from specviz.store.owner import Owner, StoreBusy, check_owner_gone, remove_owner, write_owner
from specviz.store.runs.recorder import StoreRecorder
from specviz.store.runs.recordings import insert_recording
from specviz.store.runs.run_json import RecordedRequest
from specviz.store.runs.runs import read_trace
from specviz.store.runs.tables import end_request, end_run, has_run, insert_run, to_utc
from specviz.store.sql.processes import SqlProcesses
from specviz.store.sql.snapshot import remove_snapshots

P = ParamSpec("P")
T = TypeVar("T")

FORGOTTEN = timedelta(days=1)
"""On a lake a run's process cannot be seen: after this silence it counts as dead."""

EVER = datetime.max.replace(tzinfo=UTC)
"""In a file, everything that is still running belongs to a dead process."""

INTERRUPTED = "specviz ended before the run did; what had arrived is kept."

_open_paths: set[Path] = set()
"""Databases this process has open: DuckDB's lock keeps out other processes only."""
_open_lock = threading.Lock()


def open_store(location: Location) -> Store:
    """Open the database for this process, making or migrating it if needed.

    A file: runs that a dead process left running become partial. Raises StoreBusy if another
    process (or another Store of this one) has it open, StoreError if it is damaged, belongs to
    another program, was made by a newer specviz or cannot be written; the file is left unchanged.

    A lake: others may have it open too. Their runs are left alone, unless they have been silent for
    a day: those become partial. Raises StoreError if it cannot be reached or was made by a newer
    specviz.
    """
    remove_abandoned()
    return _open_lake(location) if isinstance(location, Lake) else _open_file(location)


def open_to_read(path: Path, refusal: str) -> Store:
    """A file opened as by `open_store`, after which nothing is written to it: whoever tries gets
    `refusal` as a StoreError."""
    return _open_file(path, refusal)


def _open_lake(lake: Lake) -> Store:
    with ExitStack() as undo, as_store_error(f"The shared store {lake} cannot be opened"):
        if lake.folder is not None:
            lake.folder.mkdir(parents=True, exist_ok=True)
        database = LakeDatabase(lake)
        undo.callback(database.close)
        database.change(apply)
        silent_since = datetime.now(UTC) - FORGOTTEN
        database.change(lambda cursor: _end_interrupted(cursor, silent_since))
        return Store(lake, database, undo.pop_all())


def _open_file(path: Path, refusal: str | None = None) -> Store:
    path = path.expanduser().resolve()
    with ExitStack() as undo:
        _claim(path)
        undo.callback(_release, path)
        with as_store_error(f"The database {path} cannot be opened"):
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                check_owner_gone(path)
            database = Database(path)
            undo.callback(database.close)
            check_owner_gone(path)
            remove_snapshots(path)  # of a process that was killed
            database.change(apply)
            write_owner(path, url=None)
            undo.callback(remove_owner, path)
            database.change(lambda cursor: _end_interrupted(cursor, EVER))
        return Store(path, database, undo.pop_all(), refusal)


class Store:
    """An open database; see `open_store`. Methods may be called from any thread."""

    def __init__(
        self,
        location: Location,
        database: Database,
        on_close: ExitStack,
        refusal: str | None = None,
    ) -> None:
        self.location = location
        self.refusal = refusal
        """Why nothing can be written here; None for a store that is somebody's own."""
        self._database = database
        self._on_close = on_close
        self.queries = SqlProcesses(location, database)
        """Where users' SQL runs: see `sql.sandbox.run_sql`."""
        self._writer = Writer(database, refusal)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit what is queued and release the file. Closing twice is allowed."""
        with ExitStack() as closing:  # each of them, even if Ctrl-C comes meanwhile
            closing.callback(self._on_close.close)
            closing.callback(self._writer.close)
            closing.callback(self.queries.close)

    @property
    def path(self) -> Path:
        """The database file. Raises StoreError for a shared store, which has none."""
        if isinstance(self.location, Lake):
            raise StoreError(f"The shared store {self.location} is not a file.")
        return self.location

    @property
    def places(self) -> tuple[str, ...]:
        """Where the data is on this machine: paths to keep out of messages to users."""
        if isinstance(self.location, Lake):
            return (self.location.files.rstrip("/"),)
        return (str(self.location), str(self.location.parent))

    def masked(self, text: str) -> str:
        """A message without the password of a shared store."""
        return self.location.masked(text) if isinstance(self.location, Lake) else text

    def announce(self, url: str) -> None:
        """Publish the URL where this process accepts runs; a shared store takes them itself.

        Raises StoreError.
        """
        if isinstance(self.location, Path):
            with as_store_error("The owner of the database could not be named"):
                write_owner(self.location, url)

    def start_run(self, run: Run) -> None:
        """Save a run that begins. Raises StoreError, also for an id that is taken."""
        self.write(insert_run, run)

    def recorder(self, run_id: str, prompt: Prompt) -> StoreRecorder:
        """Begin a request of a started run; returns at once. Raises StoreError after `close`."""
        return StoreRecorder(self._writer, run_id, prompt)

    def finish_run(self, run_id: str, status: RunStatus, *, error: str | None = None) -> None:
        """Save how a run ended, now. Raises StoreError."""
        self.write(end_run, run_id, status, datetime.now(UTC), error)

    def ingest(self, run: Run, requests: Sequence[RecordedRequest]) -> bool:
        """Save a run that another process recorded, all of it or nothing.

        False if the run is stored already, which then stays unchanged. Raises StoreError.
        """
        stored = True

        def write(cursor: DuckDBPyConnection) -> None:
            nonlocal stored
            stored = not has_run(cursor, run.run_id)
            if stored:
                insert_recording(cursor, run, requests)

        self.write(write)
        return stored

    def benchmark_log(self, benchmark_id: str) -> BenchmarkLog:
        """Writes one benchmark."""
        return BenchmarkLog(self._writer, benchmark_id)

    def read(
        self,
        query: Callable[Concatenate[DuckDBPyConnection, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Call one of the store's `read_…` functions on a cursor, all its queries at one moment.

            store.read(read_trace, request_id)
            store.read(read_history, HistoryFilter(tags=("nightly",)), limit=20)

        Raises StoreError.
        """
        with as_store_error("The database could not be read"), self._database.cursor() as cursor:
            cursor.begin()
            return query(cursor, *args, **kwargs)

    def write(
        self,
        change: Callable[Concatenate[DuckDBPyConnection, P], None],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> None:
        """Call one of the store's changing functions, and commit before this returns.

            store.write(rename, Item(Kind.RUN, run_id), "before the fix")

        It may be called again if a commit fails. Raises StoreError.
        """
        self._writer.submit(lambda cursor: change(cursor, *args, **kwargs)).result()

    @contextmanager
    def cursor(self) -> Iterator[DuckDBPyConnection]:
        """A cursor for this thread alone; duckdb.Error passes through. Do not nest."""
        with self._database.cursor() as cursor:
            yield cursor


def _end_interrupted(cursor: DuckDBPyConnection, silent_since: datetime) -> None:
    """Mark as partial what is running although none of its group's requests was sent since then:
    its process died. What had arrived keeps its figures."""
    since = {"since": to_utc(silent_since)}
    cursor.execute(
        "SELECT request_id, fidelity FROM requests WHERE status = 'running' "
        "AND started_at < $since",
        since,
    )
    for request_id, fidelity in cursor.fetchall():
        trace = read_trace(cursor, request_id) if fidelity else None
        end_request(cursor, request_id, trace, RunStatus.PARTIAL, INTERRUPTED)
    for table, group in (("runs", "group_id"), ("benchmarks", "benchmark_id")):
        cursor.execute(
            f"UPDATE {table} SET status = 'partial', error = $error "
            f"WHERE status = 'running' AND started_at < $since AND {group} NOT IN ("
            "SELECT group_id FROM runs JOIN requests USING (run_id) "
            "WHERE requests.started_at >= $since)",
            {**since, "error": INTERRUPTED},
        )


def _claim(path: Path) -> None:
    with _open_lock:
        if path in _open_paths:
            raise StoreBusy(path, Owner(os.getpid()))
        _open_paths.add(path)


def _release(path: Path) -> None:
    with _open_lock:
        _open_paths.discard(path)

"""The processes of users' SQL: one kept warm, a few at work, each killed when it must be.

A query that takes too long, or whose asker left, costs its process and nobody else's; the next
question finds a spare one. Threads of the store are not involved.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from specviz.errors import StoreError
from specviz.store.file.database import Database
from specviz.store.location import Lake, Location
from specviz.store.sql.process import WAITING_EVERY_S, Ended, SqlProcess
from specviz.store.sql.snapshot import Snapshots, snapshot_folder

AT_ONCE = 3
WARM = 2
"""Idle processes that are kept: while one runs a query that must be killed, the next is ready."""

OPENING_S = 60.0
CLOSED = "The database is closed."


@dataclass(frozen=True, slots=True)
class Answer:
    """What the process answered, and the moment (UTC) up to which it knows what was committed."""

    message: Mapping[str, Any]
    as_of: datetime


class _NotOpened(Ended):
    """The process ended before it had opened the data."""


class SqlProcesses:
    """Of one open store. Methods may be called from any thread."""

    def __init__(self, location: Location, database: Database) -> None:
        """Nothing is started or copied before the first `warm` or `ask`."""
        self._location = location
        if isinstance(location, Path):
            self._folder = snapshot_folder(location)
            self._snapshots: Snapshots | None = Snapshots(database, location)
        else:
            self._folder = Path(tempfile.gettempdir()) / f"specviz-sql-{uuid.uuid4().hex}"
            self._snapshots = None
        # processes end with the thread that started them: this one lives until `close`
        self._keeper = ThreadPoolExecutor(1, thread_name_prefix="sql-keeper")
        self._numbers = itertools.count(1)
        self._slots = threading.BoundedSemaphore(AT_ONCE)
        self._lock = threading.RLock()
        self._idle: list[SqlProcess] = []
        self._busy: set[SqlProcess] = set()
        self._starting: Future[None] | None = None
        self._closed = False

    @property
    def hidden(self) -> tuple[str, ...]:
        """Paths to keep out of messages."""
        return (str(self._folder),)

    def warm(self) -> None:
        """Have a process and a copy ready soon; returns at once."""
        self._start_spare()
        with self._lock:
            if self._snapshots is not None and not self._closed:
                self._keeper.submit(self._copied)

    def ask(
        self, request: Mapping[str, Any], timeout_s: float, while_waiting: Callable[[], None]
    ) -> Answer:
        """Send a request to a process and return its answer.

        Opening the data is not part of `timeout_s`. What `while_waiting` raises passes through.
        Raises Overdue, and StoreError if the data cannot be opened or the process ends.
        """
        with self._slot(timeout_s, while_waiting), self._place() as (place, as_of):
            full = {**request, "place": place}
            try:
                message = self._asked(full, timeout_s, while_waiting)
            except _NotOpened:  # an idle process that something had ended
                message = self._asked(full, timeout_s, while_waiting)
            return Answer(message, as_of)

    def _asked(
        self, request: Mapping[str, Any], timeout_s: float, while_waiting: Callable[[], None]
    ) -> Mapping[str, Any]:
        process = self._taken(while_waiting)
        is_good = False
        try:
            try:
                process.send(request)
                message = process.receive(time.monotonic() + OPENING_S, while_waiting)
            except Ended as error:
                raise _NotOpened(str(error)) from error
            if message == {"opened": True}:
                message = process.receive(time.monotonic() + timeout_s, while_waiting)
            is_good = not message.get("spent", False)
            return message
        finally:
            self._give_back(process, is_good=is_good)

    def close(self) -> None:
        """Kill all of them and remove the copies; who waits for an answer gets a StoreError."""
        with self._lock:
            self._closed = True
            for process in self._busy:
                process.kill()  # the thread that asked it discards it
            idle, self._idle = self._idle, []
        for process in idle:
            process.discard()
        self._keeper.shutdown(wait=True, cancel_futures=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def _slot(self, timeout_s: float, while_waiting: Callable[[], None]) -> Iterator[None]:
        until = time.monotonic() + timeout_s
        while not self._slots.acquire(timeout=WAITING_EVERY_S):
            while_waiting()
            if time.monotonic() > until:
                raise StoreError(
                    f"{AT_ONCE} other queries are running: try again when one has ended."
                )
        try:
            yield
        finally:
            self._slots.release()

    @contextmanager
    def _place(self) -> Iterator[tuple[dict[str, str], datetime]]:
        """Where the data are, for the process, and when all of them were there."""
        if isinstance(self._location, Lake):
            lake, password = self._location.for_reading()
            place = {"catalog": lake.catalog, "files": lake.files, "password": password}
            yield place, datetime.now(UTC)
            return
        assert self._snapshots is not None
        with self._snapshots.held() as (file, as_of):
            yield {"file": str(file)}, as_of

    def _copied(self) -> None:
        assert self._snapshots is not None
        with self._snapshots.held():
            pass

    def _taken(self, while_waiting: Callable[[], None]) -> SqlProcess:
        """An idle process, or a new one. Raises StoreError."""
        while True:
            with self._lock:
                if self._closed:
                    raise StoreError(CLOSED)
                while self._idle:
                    process = self._idle.pop()
                    if process.is_alive:
                        self._busy.add(process)
                        self._start_spare()
                        return process
                    process.discard()
            starting = self._start_spare()
            while not starting.done():
                while_waiting()
                wait([starting], WAITING_EVERY_S)
            if starting.cancelled():
                raise StoreError(CLOSED)
            starting.result()

    def _start_spare(self) -> Future[None]:
        """Start one in the keeper's thread, unless one is idle or about to be."""
        with self._lock:
            if self._closed:
                raise StoreError(CLOSED)
            if self._idle:
                return _done()
            if self._starting is None or self._starting.done():
                self._starting = self._keeper.submit(self._start)
            return self._starting

    def _start(self) -> None:
        folder = self._folder / f"process-{next(self._numbers)}"
        process = SqlProcess(folder, of_a_lake=isinstance(self._location, Lake))
        with self._lock:
            if not self._closed:
                self._idle.append(process)
                return
        process.discard()

    def _give_back(self, process: SqlProcess, *, is_good: bool) -> None:
        with self._lock:
            self._busy.discard(process)
            if is_good and not self._closed and len(self._idle) < WARM:
                self._idle.append(process)
                return
        process.discard()
        with suppress(StoreError):  # closed meanwhile
            self._start_spare()


def _done() -> Future[None]:
    future: Future[None] = Future()
    future.set_result(None)
    return future

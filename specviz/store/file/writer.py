"""The one thread that changes the database.

Jobs that are waiting share a transaction, so that many small writes cost one commit. It knows
nothing of tables: a job is a function of a cursor.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from math import inf

import duckdb
from duckdb import DuckDBPyConnection

from specviz.errors import StoreError
from specviz.store.file.database import Database, as_store_error

Write = Callable[[DuckDBPyConnection], None]

FLUSH_S = 0.5
"""A job that nobody waits for is committed after this time: what a crash may lose."""

CHECKPOINT_RETRY_S = 60.0
"""A failed checkpoint makes DuckDB read its log again, so it is not tried at every commit."""

_log = logging.getLogger(__name__)


class Writer:
    """Commits jobs in the order they were submitted; one that fails does not affect the others."""

    def __init__(self, database: Database, refusal: str | None = None) -> None:
        """`refusal`: why nothing may be written; every job gets it as a StoreError."""
        self._database = database
        self._refusal = refusal
        self._changed = threading.Condition()
        self._jobs: dict[Write, Future[None]] = {}
        self._due = inf
        self._closing = False
        self._checkpoint_after = 0.0
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, write: Write, *, within_s: float = 0.0) -> Future[None]:
        """Queue a job, once however often it is submitted; the future is done after the commit,
        which begins `within_s` from now.

        `write` may be called again if a commit fails, so it must only read its own state. The
        future's exception is a StoreError. Raises StoreError after `close`, and for a store that
        takes nothing.
        """
        if self._refusal is not None:
            raise StoreError(self._refusal)
        with self._changed:
            if self._closing:
                raise StoreError("The database is closed.")
            future = self._jobs.setdefault(write, Future())
            if within_s > 0.0:
                within_s = max(within_s, self._database.commit_every_s)
            self._due = min(self._due, time.monotonic() + within_s)
            self._changed.notify()
            return future

    def close(self) -> None:
        """Commit what is queued and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while jobs := self._next_jobs():
            self._commit(jobs)
            self._checkpoint()

    def _next_jobs(self) -> dict[Write, Future[None]]:
        """Wait until jobs are due; none are left when the writer closes."""
        with self._changed:
            while not self._closing and (wait := self._due - time.monotonic()) > 0:
                self._changed.wait(None if wait == inf else wait)
            jobs, self._jobs, self._due = self._jobs, {}, inf
            return jobs

    def _commit(self, jobs: dict[Write, Future[None]]) -> None:
        try:
            self._transaction(jobs)
        except Exception as error:  # its submitter gets it; the thread goes on
            if len(jobs) > 1:
                for write, future in jobs.items():
                    self._commit({write: future})
                return
            for future in jobs.values():
                future.set_exception(error)
        else:
            for future in jobs.values():
                future.set_result(None)

    def _transaction(self, writes: Iterable[Write]) -> None:
        if self._database.damage is not None:
            raise StoreError(self._database.damage)

        def write_all(cursor: DuckDBPyConnection) -> None:
            for write in writes:
                write(cursor)

        with as_store_error("The run could not be saved"):
            self._database.change(write_all)

    def _checkpoint(self) -> None:
        if self._database.damage is not None or time.monotonic() < self._checkpoint_after:
            return
        try:
            self._database.checkpoint()
        except (duckdb.Error, StoreError, OSError) as error:
            self._checkpoint_after = time.monotonic() + CHECKPOINT_RETRY_S
            _log.warning("The database's log could not be moved into its file: %s", error)

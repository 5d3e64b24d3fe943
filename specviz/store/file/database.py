"""The open DuckDB file: hands out cursors, and reopens the file after DuckDB invalidated it.

A connection or cursor is never shared between threads: each use takes a cursor of its own.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from specviz.errors import StoreError
from specviz.store.file.damage import cannot_open, disk_advice, found_damaged, is_damage
from specviz.store.owner import StoreBusy, read_owner

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    # users' SQL must reach nothing but this database
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "memory_limit": "2GB",
    "max_temp_directory_size": "4GB",
    "lock_configuration": "true",
    # a checkpoint that fails inside COMMIT leaves it open whether data was kept: see checkpoint()
    "checkpoint_threshold": "1TB",
    "storage_compatibility_version": "latest",  # packs text tighter; of the DuckDB that is pinned
    # of new files: rows that are not in the file yet take a block per column, and there are 200
    "default_block_size": "65536",
    # freed memory is otherwise returned only by a thread that next uses the same arena
    "allocator_background_threads": "true",
}

CHECKPOINT_WAL_BYTES = 16 * 1024 * 1024
REOPEN_TIMEOUT_S = 30.0


class Database:
    """One DuckDB file. Methods may be called from any thread."""

    commit_every_s = 0.0
    """Writes that nobody waits for are collected for at least this long before a commit."""

    def __init__(self, path: Path) -> None:
        """Raises StoreBusy or StoreError."""
        self._path = path
        self.damage: str | None = None
        """Set once the file is damaged or gone: what is wrong; nothing is written any more."""
        self.commits = 0
        """How often something was committed: whether a copy of the file is still all there is."""
        self._at_rest = threading.Lock()
        self._changed = threading.Condition()
        self._in_use = 0
        self._broken = False
        self._file: tuple[int, int] | None = None
        self._root: DuckDBPyConnection | None = self._connect()

    @contextmanager
    def cursor(self) -> Iterator[DuckDBPyConnection]:
        """A fresh cursor for this thread; closing it rolls back what was not committed.

        Do not take a second one while holding the first. Raises StoreError if the store is closed
        or cannot be reopened; duckdb.Error passes through.
        """
        cursor = self._take()
        try:
            self._prepare(cursor)
            yield cursor
        except duckdb.Error as error:
            # after either DuckDB answers nothing any more (an internal error: duckdb#22352)
            if isinstance(error, duckdb.FatalException | duckdb.InternalException):
                self._broken = True
            self.damage = self.damage or self._damage_in(error)
            raise
        finally:
            self._give_back(cursor)

    def change(self, write: Callable[[DuckDBPyConnection], None]) -> None:
        """Run `write` in a transaction and commit it. duckdb.Error passes through.

        Raises StoreError if the file is not at its place: what was written would be lost with it.
        """
        self._check_there()
        with self.cursor() as cursor:
            cursor.begin()
            write(cursor)
            with self._at_rest:
                cursor.commit()
                self.commits += 1
        self._check_there()

    @contextmanager
    def at_rest(self) -> Iterator[Path]:
        """The file; meanwhile it and its log can be copied: commits and checkpoints wait.

        A transaction that goes on writes only to blocks that the file does not refer to yet.
        """
        with self._at_rest:
            yield self._path

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file once it is large; a failure loses nothing.

        Raises duckdb.Error. If this fails for lack of space, DuckDB invalidates the whole database;
        the next `cursor` reopens it from file and log.
        """
        log = self._path.with_name(f"{self._path.name}.wal")
        if log.exists() and log.stat().st_size > CHECKPOINT_WAL_BYTES:
            with self.cursor() as cursor, self._at_rest:
                cursor.execute("CHECKPOINT")

    def close(self) -> None:
        """Close the file; cursors still in use fail. Closing twice is allowed."""
        with self._changed:
            if self._root is not None:
                self._root.close()
            self._root = None

    def _take(self) -> DuckDBPyConnection:
        with self._changed:
            if self._broken:
                self._reopen()
            if self._root is None:
                raise StoreError(f"The database {self._path} is closed.")
            cursor = self._root.cursor()
            self._in_use += 1
            return cursor

    def _give_back(self, cursor: DuckDBPyConnection) -> None:
        cursor.close()
        with self._changed:
            self._in_use -= 1
            self._changed.notify_all()

    def _reopen(self) -> None:
        # The old instance must be gone first: closing it later would drop the new one's file lock.
        if not self._changed.wait_for(lambda: self._in_use == 0, REOPEN_TIMEOUT_S):
            raise StoreError("The database waits for a query to end before it can be opened again.")
        if self._broken and self._root is not None:
            with self._at_rest:
                self._root.close()
                self._root = self._connect()
            self._broken = False

    def _connect(self) -> DuckDBPyConnection:
        if self._file is not None:
            self._check_there()  # a new file would be made
        connection = connect(self._path)
        self._file = _identity(self._path)
        return connection

    def _check_there(self) -> None:
        """What was written once to a file that is gone is not written twice if it comes back."""
        if _identity(self._path) != self._file:
            self.damage = (
                f"The database {self._path} was removed or replaced while specviz has it open: "
                "what is written now would be lost. Export what you need, put the file back and "
                "start specviz again."
            )
            raise StoreError(self.damage)

    def _damage_in(self, error: duckdb.Error) -> str | None:
        return found_damaged(self._path, first_line(error)) if is_damage(error) else None

    def _prepare(self, cursor: DuckDBPyConnection) -> None:
        """What a cursor needs before it is used: for a file, nothing."""


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and number of the file at a path, None if there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def connect(path: Path) -> DuckDBPyConnection:
    """Open the file for writing, making it if needed.

    Raises StoreBusy or StoreError; a damaged file stays as it is, and no new one is left behind.
    """
    is_new = not path.exists()
    try:
        return _held_by_the_file(duckdb.connect(path, config=SETTINGS), path)
    except duckdb.Error as error:
        reason = first_line(error)
        if "Could not set lock" in reason:
            pid = re.search(r"\(PID (\d+)\)", reason)
            raise StoreBusy(path, read_owner(path, int(pid[1]) if pid else None)) from error
        if is_new:
            with suppress(OSError):  # a read-only file system, where nothing was made
                path.unlink(missing_ok=True)
        if "newer version of DuckDB" in str(error):
            raise StoreError(
                f"The database {path} was made by a newer specviz: "
                "update specviz or set SPECVIZ_STORE to another file."
            ) from error
        raise StoreError(cannot_open(path, reason)) from error


def _held_by_the_file(connection: DuckDBPyConnection, path: Path) -> DuckDBPyConnection:
    """DuckDB opens CSV, JSON and Parquet files as views of a database in memory, which would lose
    all that is stored."""
    with connection.cursor() as cursor:  # a result left open here would hinder every checkpoint
        found = cursor.execute(
            "SELECT path FROM duckdb_databases() WHERE database_name = current_database()"
        ).fetchone()
    if found and found[0]:
        return connection
    connection.close()
    raise StoreError(
        f"{path} has the name of a data file, which DuckDB would not write to: set SPECVIZ_STORE "
        "or --db to a file like runs.duckdb, and read results with `specviz import`."
    )


def first_line(error: Exception) -> str:
    """The reason in an exception's text, without DuckDB's links and further lines."""
    line = str(error).strip().split("\n")[0]
    return re.sub(r"\. See also http\S+$", "", line).removesuffix(".") or type(error).__name__


@contextmanager
def as_store_error(what: str) -> Iterator[None]:
    """Turn what DuckDB, Arrow or the disk raise into a StoreError that begins with `what`."""
    try:
        yield
    except UnicodeError as error:
        raise StoreError(f"{what}: it has characters that are not valid Unicode.") from error
    except (duckdb.Error, OSError, ValueError, TypeError, OverflowError) as error:
        reason = first_line(error)
        raise StoreError(f"{what}: {reason}.{disk_advice(reason)}") from error

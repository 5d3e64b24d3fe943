"""A store on a DuckLake: many processes on many machines write it at once.

The catalog is a PostgreSQL database, rows are Parquet files (https://ducklake.select). Of two
commits at the same time DuckLake lets one fail if it touches a table that the other one changes, so
writers take turns: each holds an advisory lock of the catalog during its transaction.

Rows are never kept in the catalog itself (data inlining): DuckLake 1.0 cannot write a text with a
NUL inside a list there, and model text may have one.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from specviz.errors import StoreError
from specviz.store.file.database import SETTINGS, Database, first_line
from specviz.store.location import Lake
from specviz.store.quoting import literal

NAME = "lake"
CATALOG = f"__ducklake_metadata_{NAME}"
"""What DuckLake calls the attached PostgreSQL database."""

EXTENSIONS = ("ducklake", "postgres_scanner", "httpfs")

OPENING = (
    "autoinstall_known_extensions",
    "autoload_known_extensions",
    "python_enable_replacements",
)
CLOSING = ("enable_external_access", "lock_configuration")
"""Settings before and after the lake is attached, which the latter would prevent.

They block files, networks and settings, and a READ ONLY transaction blocks changes of the lake.
Neither covers the functions of the extensions (postgres_execute runs anything in the catalog): in
users' SQL only `sql/guard.py` refuses them.
"""

ENDPOINT = "DUCKDB_S3_ENDPOINT"
"""httpfs reads this, DUCKDB_S3_USE_SSL, AWS_REGION and the AWS keys from the environment."""

COMMIT_EVERY_S = 5.0
"""What a crash may lose. Every commit adds a Parquet file to each table it writes."""

TURN_S = 60
"""How long a writer waits for its turn, and how long one that became silent may keep it."""

ATTEMPTS = 5
TURN = 7_362_017
"""The lock's number in PostgreSQL: the same in every specviz."""

COMPACT_EVERY_S = 600.0
COMPACT_FILES = 32
SMALL_FILE_BYTES = 64 * 1024 * 1024
KEEP = "1 day"
"""Replaced files are kept for the queries of other machines that still read them."""

# In a session of its own: PostgreSQL releases the lock when the session ends.
_TAKE_TURN = (
    f"SET LOCAL lock_timeout = '{TURN_S}s'; "
    f"SET LOCAL idle_in_transaction_session_timeout = '{TURN_S}s'; "
    f"SELECT pg_advisory_xact_lock({TURN})"
)


class LakeDatabase(Database):
    """A lake, opened by this process. Methods may be called from any thread."""

    commit_every_s = COMMIT_EVERY_S

    def __init__(self, lake: Lake) -> None:
        """Raises StoreError, without the password."""
        self._lake = lake
        self._compact_after = time.monotonic() + COMPACT_EVERY_S
        super().__init__(Path(NAME))

    @contextmanager
    def cursor(self) -> Iterator[DuckDBPyConnection]:
        """As `Database.cursor`; the text of an error has no password."""
        with masked(self._lake), super().cursor() as cursor:
            yield cursor

    def change(self, write: Callable[[DuckDBPyConnection], None]) -> None:
        """As `Database.change`, taking turns with all other writers of the lake.

        Raises StoreError if it waits too long for its turn.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with self.cursor() as cursor, my_turn(cursor, CATALOG):
                    cursor.begin()
                    write(cursor)
                    cursor.commit()
                return
            except duckdb.TransactionException as error:
                if "conflict" not in str(error):
                    raise
                if attempt == ATTEMPTS:
                    raise StoreError(
                        f"The shared store was changed by others in {ATTEMPTS} attempts to write: "
                        "try again when they are done."
                    ) from error
                time.sleep(random.uniform(0.0, 0.2 * attempt))

    def checkpoint(self) -> None:
        """Now and then, merge small files and drop replaced ones; a failure loses nothing.

        Raises duckdb.Error or StoreError.
        """
        if time.monotonic() >= self._compact_after:
            self._compact_after = time.monotonic() + COMPACT_EVERY_S
            self.compact()

    def compact(self) -> None:
        """Merge the small files of every table that has many, then remove replaced files that no
        query can need any more. Raises duckdb.Error or StoreError."""
        with self.cursor() as cursor, my_turn(cursor, CATALOG):
            for table in _scattered(cursor):
                cursor.execute(f"CALL ducklake_rewrite_data_files('{NAME}', {literal(table)})")
                cursor.execute(
                    f"CALL ducklake_merge_adjacent_files('{NAME}', {literal(table)}, "
                    f"max_file_size => {SMALL_FILE_BYTES})"
                )
            replaced = f"older_than => now() - INTERVAL '{KEEP}'"
            cursor.execute(f"CALL ducklake_expire_snapshots('{NAME}', {replaced})")
            cursor.execute(f"CALL ducklake_cleanup_old_files('{NAME}', {replaced})")

    def _connect(self) -> DuckDBPyConnection:
        return connect_lake(self._lake)

    def _damage_in(self, error: duckdb.Error) -> None:
        return None  # one unreadable Parquet file does not prevent writing others

    def _prepare(self, cursor: DuckDBPyConnection) -> None:
        cursor.execute(f"USE {NAME}")  # cursors inherit no search path


def connect_lake(lake: Lake, *, spill: Path | None = None) -> DuckDBPyConnection:
    """Attach the lake and close every other door. With `spill`, a folder for what does not fit into
    memory, the lake can only be read; without, it is made if needed.

    Raises StoreError, without the password.
    """
    needed = EXTENSIONS if lake.folder is None else EXTENSIONS[:2]
    loads = [f"LOAD {literal(str(extension(name)))}" for name in needed]
    connection = duckdb.connect(":memory:", config={name: SETTINGS[name] for name in OPENING})
    try:
        for load in loads:
            connection.execute(load)
        if lake.folder is None and os.environ.get(ENDPOINT):
            connection.execute(
                "SET GLOBAL s3_url_style = 'path'"
            )  # MinIO and Ceph have no names per bucket
        if spill is None:
            _attach(connection, lake)
        else:
            connection.execute(_attached(lake, "READ_ONLY"))
        connection.execute(f"SET allowed_directories = [{literal(lake.files)}]")
        for name in SETTINGS.keys() - {*OPENING, *CLOSING}:
            connection.execute(f"SET {name} = {literal(str(SETTINGS[name]))}")
        folder = spill or Path(tempfile.gettempdir()) / f"specviz-{uuid.uuid4().hex}.tmp"
        connection.execute(f"SET temp_directory = {literal(str(folder))}")
        for name in CLOSING:
            connection.execute(f"SET {name} = {literal(str(SETTINGS[name]))}")
    except duckdb.Error as error:
        connection.close()
        raise StoreError(_not_opened(lake, str(error))) from None  # it quotes the password
    return connection


def _attach(connection: DuckDBPyConnection, lake: Lake) -> None:
    """In turn: two processes that make the same lake at once would both fail."""
    connection.execute(f"ATTACH {literal(lake.catalog)} AS gate (TYPE postgres)")
    with my_turn(connection, "gate"):
        connection.execute(_attached(lake, "DATA_INLINING_ROW_LIMIT 0"))
    connection.execute("DETACH gate")


def _attached(lake: Lake, option: str) -> str:
    return (
        f"ATTACH {literal('ducklake:postgres:' + lake.catalog)} AS {NAME} "
        f"(DATA_PATH {literal(lake.files)}, {option})"
    )


@contextmanager
def my_turn(cursor: DuckDBPyConnection, catalog: str) -> Iterator[None]:
    """Hold the lock of an attached PostgreSQL database. Raises StoreError after `TURN_S`."""
    with closing(cursor.cursor()) as gate:
        gate.begin()
        try:
            gate.execute(f"CALL postgres_execute('{catalog}', {literal(_TAKE_TURN)})")
        except duckdb.Error as error:
            if "lock timeout" in str(error):
                raise StoreError(
                    f"Another process has been writing to the shared store for {TURN_S} s: "
                    "try again when it is done."
                ) from None
            raise
        try:
            yield
        finally:
            with suppress(duckdb.Error):  # PostgreSQL ended a session that was silent for long
                gate.rollback()


@contextmanager
def masked(lake: Lake) -> Iterator[None]:
    """Take the catalog's keywords out of DuckDB's errors, which quote them."""
    try:
        yield
    except duckdb.Error as error:
        shown = lake.masked(str(error))
        if shown == str(error):
            raise
        raise type(error)(shown) from None


def extension(name: str) -> Path:
    """The file of an installed DuckDB extension. Raises StoreError if it is missing."""
    package = f"duckdb_extension_{name}"
    found = find_spec(package)
    for folder in (found and found.submodule_search_locations) or ():
        file = Path(folder, "extensions", f"v{duckdb.__version__}", f"{name}.duckdb_extension")
        if file.is_file():
            return file
    raise StoreError(
        f"A shared store needs DuckDB's extension {name}: "
        f"pip install {package.replace('_', '-')}=={duckdb.__version__}."
    )


def _scattered(cursor: DuckDBPyConnection) -> list[str]:
    rows = cursor.execute(
        f"SELECT table_name FROM ducklake_table_info('{NAME}') "
        "WHERE file_count + delete_file_count > ?",
        [COMPACT_FILES],
    ).fetchall()
    return [str(name) for (name,) in rows]


def _not_opened(lake: Lake, message: str) -> str:
    text = lake.masked(message)
    if "does not match existing data path" in text:
        return f"The shared store {lake} keeps its files elsewhere: {first_line(ValueError(text))}."
    reason = text.rpartition("Unable to connect to Postgres at ")[2].removeprefix('"…": ')
    return (
        f"The shared store {lake} cannot be opened ({first_line(ValueError(reason))}): check that "
        "PostgreSQL runs there and that user and password are right (SPECVIZ_STORE, PGPASSWORD or "
        "~/.pgpass)."
    )

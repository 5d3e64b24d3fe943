"""The schema, as numbered SQL files; new ones are added, old ones never change.

The database holds the names of applied migrations, which reveals a file of a newer specviz.
"""

from __future__ import annotations

from importlib.resources import files

from duckdb import DuckDBPyConnection

from specviz.errors import StoreError

_APPLIED = "specviz_migrations"


def names() -> list[str]:
    """File names of all migrations of this program, in order."""
    return sorted(file.name for file in files(__name__).iterdir() if file.name.endswith(".sql"))


def apply(cursor: DuckDBPyConnection) -> None:
    """Bring the database up to date, in a transaction that the caller commits.

    Raises StoreError, with nothing changed, if the database was made by a newer specviz or holds
    tables of something else.
    """
    applied = _applied(cursor)
    unknown = applied - set(names())
    if unknown:
        raise StoreError(
            f"The database was made by a newer specviz (it knows {min(unknown)}): "
            "update specviz or set SPECVIZ_STORE to another database."
        )
    due = [name for name in names() if name not in applied]
    if not due:
        return
    cursor.execute(
        f"CREATE TABLE IF NOT EXISTS {_APPLIED} (name VARCHAR NOT NULL, applied_at TIMESTAMP)"
    )
    for name in due:
        cursor.execute((files(__name__) / name).read_text(encoding="utf-8"))
    cursor.execute(
        f"INSERT INTO {_APPLIED} SELECT unnest(?), now()::TIMESTAMPTZ AT TIME ZONE 'UTC'", [due]
    )


def _applied(cursor: DuckDBPyConnection) -> set[str]:
    here = "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
    tables = {row[0] for row in cursor.execute(here).fetchall()}
    if _APPLIED in tables:
        return {row[0] for row in cursor.execute(f"SELECT name FROM {_APPLIED}").fetchall()}
    if tables:
        raise StoreError(
            f"The database holds tables of another program ({min(tables)}): "
            "set SPECVIZ_STORE to another file."
        )
    return set()

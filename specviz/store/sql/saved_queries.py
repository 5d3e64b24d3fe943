"""Queries that people saved, by name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from duckdb import DuckDBPyConnection

from specviz.errors import UsageError
from specviz.store.runs.runs import rows_of
from specviz.store.runs.tables import insert, to_utc
from specviz.store.sql.guard import MAX_CHARACTERS

NAME_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """`saved_at` in UTC."""

    name: str
    sql: str
    saved_at: datetime


def checked_name(name: str) -> str:
    """The name without surrounding blanks. Raises UsageError for one that no list can show."""
    name = name.strip()
    if not name:
        raise UsageError("Give the query a name.")
    if len(name) > NAME_CHARACTERS:
        raise UsageError(f"Shorten the name to {NAME_CHARACTERS} characters.")
    if not name.isprintable():
        raise UsageError("Take what cannot be printed out of the name.")
    return name


def put_query(cursor: DuckDBPyConnection, name: str, sql: str, at: datetime) -> None:
    """Save a query, replacing one of that name, within the caller's transaction.

    Raises UsageError for an invalid name, for an empty query and for one that is too long.
    """
    name = checked_name(name)
    if not sql.strip() or len(sql) > MAX_CHARACTERS:
        raise UsageError(f"A saved query has 1 to {MAX_CHARACTERS:,} characters.")
    delete_query(cursor, name)
    insert(cursor, "saved_queries", {"name": name, "sql": sql, "saved_at": to_utc(at)})


def rename_query(cursor: DuckDBPyConnection, name: str, new_name: str) -> None:
    """Raises UsageError if there is none, or if another one has the new name already."""
    new_name = checked_name(new_name)
    names = {saved.name for saved in read_queries(cursor)}
    if name not in names:
        raise UsageError(f"There is no saved query {name}: another tab may have renamed it.")
    if new_name != name and new_name in names:
        raise UsageError(f"There is a query {new_name} already: choose another name.")
    cursor.execute("UPDATE saved_queries SET name = ? WHERE name = ?", [new_name, name])


def delete_query(cursor: DuckDBPyConnection, name: str) -> None:
    """Does nothing if there is none."""
    cursor.execute("DELETE FROM saved_queries WHERE name = ?", [name])


def read_queries(cursor: DuckDBPyConnection) -> list[SavedQuery]:
    """By name."""
    cursor.execute("SELECT name, sql, saved_at FROM saved_queries ORDER BY lower(name), name")
    return [
        SavedQuery(row["name"], row["sql"], row["saved_at"].replace(tzinfo=UTC))
        for row in rows_of(cursor)
    ]

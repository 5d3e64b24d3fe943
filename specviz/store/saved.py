"""What people save under a name: queries of the Query page, views of the Runs list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from duckdb import DuckDBPyConnection

from specviz.errors import UsageError
from specviz.store.runs.tables import insert, to_utc

NAME_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class Shelf:
    """A table of such things: what one is called, and the column that holds it."""

    table: str
    noun: str
    content: str


@dataclass(frozen=True, slots=True)
class Saved:
    """`saved_at` in UTC."""

    name: str
    content: str
    saved_at: datetime


QUERIES = Shelf("saved_queries", "query", "sql")
VIEWS = Shelf("saved_views", "view", "settings")
SHELVES = (QUERIES, VIEWS)


def checked_name(shelf: Shelf, name: str) -> str:
    """The name without surrounding blanks. Raises UsageError for one that no list can show."""
    name = name.strip()
    if not name:
        raise UsageError(f"Give the {shelf.noun} a name.")
    if len(name) > NAME_CHARACTERS:
        raise UsageError(f"Shorten the name to {NAME_CHARACTERS} characters.")
    if not name.isprintable():
        raise UsageError("Take what cannot be printed out of the name.")
    return name


def put_saved(
    cursor: DuckDBPyConnection, shelf: Shelf, name: str, content: str, at: datetime
) -> None:
    """Save something, replacing what has the name, within the caller's transaction.

    Raises UsageError for an invalid name.
    """
    name = checked_name(shelf, name)
    delete_saved(cursor, shelf, name)
    insert(cursor, shelf.table, {"name": name, shelf.content: content, "saved_at": to_utc(at)})


def rename_saved(cursor: DuckDBPyConnection, shelf: Shelf, name: str, new_name: str) -> None:
    """Raises UsageError if there is none, or if another one has the new name already."""
    new_name = checked_name(shelf, new_name)
    names = {saved.name for saved in read_saved(cursor, shelf)}
    if name not in names:
        raise UsageError(f"There is no saved {shelf.noun} {name}: another tab may have renamed it.")
    if new_name != name and new_name in names:
        raise UsageError(f"There is a {shelf.noun} {new_name} already: choose another name.")
    cursor.execute(f"UPDATE {shelf.table} SET name = ? WHERE name = ?", [new_name, name])


def delete_saved(cursor: DuckDBPyConnection, shelf: Shelf, name: str) -> None:
    """Does nothing if there is none."""
    cursor.execute(f"DELETE FROM {shelf.table} WHERE name = ?", [name])


def read_saved(cursor: DuckDBPyConnection, shelf: Shelf) -> list[Saved]:
    """By name."""
    cursor.execute(
        f"SELECT name, {shelf.content}, saved_at FROM {shelf.table} ORDER BY lower(name), name"
    )
    return [Saved(name, content, at.replace(tzinfo=UTC)) for name, content, at in cursor.fetchall()]

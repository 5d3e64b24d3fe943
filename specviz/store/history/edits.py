"""What people change about past runs: names, notes, tags, and which are deleted.

Deleting sets a time; until a line is removed permanently it can be restored. Each function works in
the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from duckdb import DuckDBPyConnection

from specviz.errors import UsageError
from specviz.store.history.line import Item, Kind
from specviz.store.runs.tables import to_utc, update

KEPT_DELETED = timedelta(days=7)
"""How long a deleted line can be restored."""

MAX_NAME, MAX_TAG, MAX_NOTE = 120, 40, 20_000
"""Characters: longer ones were pasted by mistake."""

_TABLES = {
    Kind.RUN: ("runs", "run_id"),
    Kind.BENCHMARK: ("benchmarks", "benchmark_id"),
    Kind.TOOL_RESULT: ("elsewhere", "elsewhere_id"),
}
_OF_REQUESTS = ("steps", "decisions")
_OF_BENCHMARK = (
    *("samples", "blocks", "rounds", "benchmark_prompts", "benchmark_arms"),
    *("k_replays", "k_step_times", "benchmarks"),
)


def rename(cursor: DuckDBPyConnection, item: Item, name: str) -> None:
    """Name a line; an empty name makes a run show its method again.

    Raises UsageError for a name that is too long, or missing where one is required.
    """
    name = " ".join(name.split())
    if len(name) > MAX_NAME:
        raise UsageError(f"A name has at most {MAX_NAME} characters: put the rest into the note.")
    if not name and item.kind is not Kind.RUN:
        raise UsageError("Only a run can do without a name: type one.")
    _set(cursor, item, "name", name or None)


def write_note(cursor: DuckDBPyConnection, items: Iterable[Item], note: str) -> None:
    """Replace the note. Raises UsageError for one that is too long."""
    note = note.strip()
    if len(note) > MAX_NOTE:
        raise UsageError(f"A note has at most {MAX_NOTE:,} characters, not {len(note):,}.")
    for item in items:
        _set(cursor, item, "note", note or None)


def tag(
    cursor: DuckDBPyConnection,
    items: Iterable[Item],
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
) -> None:
    """Add tags to lines and remove others. Raises UsageError for a tag that is too long."""
    added, removed = clean_tags(add), clean_tags(remove)
    for item in items:
        table, key = _TABLES[item.kind]
        cursor.execute(f"SELECT tags FROM {table} WHERE {key} = ?", [item.item_id])
        row = cursor.fetchone()
        tags = ({*(row[0] or ())} if row else set()) - {*removed} | {*added}
        _set(cursor, item, "tags", sorted(tags) or None)


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags in alphabetical order, without duplicates and extra spaces. Raises UsageError."""
    cleaned = {" ".join(text.split()) for text in tags} - {""}
    for text in cleaned:
        if len(text) > MAX_TAG:
            raise UsageError(f"A tag has at most {MAX_TAG} characters: write a note instead.")
    return tuple(sorted(cleaned))


def delete(cursor: DuckDBPyConnection, items: Sequence[Item], at: datetime) -> None:
    """Hide lines from all lists until they are restored; a benchmark takes its runs with it.

    Raises UsageError, with nothing deleted, for one that is still running and for a run of a
    benchmark.
    """
    for item in items:
        _check_ended(cursor, item)
    for item in items:
        _set_deleted(cursor, item, to_utc(at))


def restore(cursor: DuckDBPyConnection, items: Iterable[Item]) -> None:
    """Restore deleted lines."""
    for item in items:
        _set_deleted(cursor, item, None)


def remove(cursor: DuckDBPyConnection, items: Iterable[Item]) -> None:
    """Remove deleted lines permanently, with everything that belongs to them.

    Lines that are not deleted, or are gone already, are left unchanged.
    """
    for item in items:
        table, key = _TABLES[item.kind]
        cursor.execute(
            f"SELECT 1 FROM {table} WHERE {key} = ? AND deleted_at IS NOT NULL", [item.item_id]
        )
        if cursor.fetchone() is not None:
            _remove(cursor, item)


def remove_expired(cursor: DuckDBPyConnection, now: datetime) -> None:
    """Remove permanently what was deleted more than `KEPT_DELETED` ago."""
    expired = []
    for kind, (table, key) in _TABLES.items():
        cursor.execute(
            f"SELECT {key} FROM {table} WHERE deleted_at < ?", [to_utc(now - KEPT_DELETED)]
        )
        expired += [Item(kind, row[0]) for row in cursor.fetchall()]
    remove(cursor, sorted(expired, key=lambda item: item.kind is Kind.RUN))


def _check_ended(cursor: DuckDBPyConnection, item: Item) -> None:
    """Raise UsageError for what cannot be deleted."""
    if item.kind is Kind.TOOL_RESULT:
        return
    table, key = _TABLES[item.kind]
    cursor.execute(f"SELECT status FROM {table} WHERE {key} = ?", [item.item_id])
    row = cursor.fetchone()
    if row and row[0] == "running":
        raise UsageError(f"This {item.kind} is still running: cancel it, or wait for its end.")
    if item.kind is Kind.RUN and _is_of_benchmark(cursor, item.item_id):
        raise UsageError("This run is a part of a benchmark: delete the benchmark as a whole.")


def _is_of_benchmark(cursor: DuckDBPyConnection, run_id: str) -> bool:
    cursor.execute(
        "SELECT 1 FROM runs JOIN benchmarks ON group_id = benchmark_id WHERE run_id = ?", [run_id]
    )
    return cursor.fetchone() is not None


def _set_deleted(cursor: DuckDBPyConnection, item: Item, at: datetime | None) -> None:
    _set(cursor, item, "deleted_at", at)
    if item.kind is Kind.BENCHMARK:
        update(cursor, "runs", {"deleted_at": at}, "group_id", item.item_id)


def _set(cursor: DuckDBPyConnection, item: Item, column: str, value: object) -> None:
    table, key = _TABLES[item.kind]
    update(cursor, table, {column: value}, key, item.item_id)


def _remove(cursor: DuckDBPyConnection, item: Item) -> None:
    if item.kind is Kind.TOOL_RESULT:
        for table in ("elsewhere_requests", "elsewhere"):
            cursor.execute(f"DELETE FROM {table} WHERE elsewhere_id = ?", [item.item_id])
        return
    key = "group_id" if item.kind is Kind.BENCHMARK else "run_id"
    runs = f"SELECT run_id FROM runs WHERE {key} = ?"
    requests = f"SELECT request_id FROM requests WHERE run_id IN ({runs})"
    for table in _OF_REQUESTS:
        cursor.execute(f"DELETE FROM {table} WHERE request_id IN ({requests})", [item.item_id])
    cursor.execute(f"DELETE FROM requests WHERE run_id IN ({runs})", [item.item_id])
    cursor.execute(f"DELETE FROM runs WHERE {key} = ?", [item.item_id])
    if item.kind is Kind.BENCHMARK:
        for table in _OF_BENCHMARK:
            cursor.execute(f"DELETE FROM {table} WHERE benchmark_id = ?", [item.item_id])

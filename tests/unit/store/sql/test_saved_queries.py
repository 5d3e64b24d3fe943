"""Saved queries: under a name, replaced, renamed, gone; and what the tables' columns mean."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from specviz.errors import UsageError
from specviz.store import Store
from specviz.store.saved import QUERIES, delete_saved, read_saved, rename_saved
from specviz.store.sql.saved_queries import put_query
from specviz.store.sql.schema import read_schema
from tests.support.store.samples import frame_of

AT = datetime(2026, 11, 1, 12, tzinfo=UTC)
HOSTILE = "<img src=x onerror=alert(1)> '; DROP TABLE runs; --"


def save(store: Store, name: str, sql: str = "SELECT 1") -> None:
    store.write(put_query, name, sql, AT)


def rename(store: Store, name: str, new_name: str) -> None:
    store.write(rename_saved, QUERIES, name, new_name)


def names(store: Store) -> list[str]:
    return [saved.name for saved in store.read(read_saved, QUERIES)]


def test_saved_renamed_and_deleted(store: Store) -> None:
    save(store, " b ")
    save(store, "A", HOSTILE)
    save(store, "b", "SELECT 2")
    saved = store.read(read_saved, QUERIES)
    assert [(one.name, one.content, one.saved_at) for one in saved] == [
        ("A", HOSTILE, AT),
        ("b", "SELECT 2", AT),
    ]
    rename(store, "b", HOSTILE)
    rename(store, "A", "A")
    assert names(store) == [HOSTILE, "A"]
    store.write(delete_saved, QUERIES, HOSTILE)
    store.write(delete_saved, QUERIES, HOSTILE)
    assert names(store) == ["A"]


def test_a_name_is_never_taken_from_another_query(store: Store) -> None:
    save(store, "one", "SELECT 1")
    save(store, "two", "SELECT 2")
    with pytest.raises(UsageError, match="a query two already"):
        rename(store, "one", "two")
    with pytest.raises(UsageError, match="no saved query three"):
        rename(store, "three", "four")
    assert [one.content for one in store.read(read_saved, QUERIES)] == ["SELECT 1", "SELECT 2"]


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\nb", "a\u202eb", "a\0"])
def test_names_that_no_list_can_show(store: Store, name: str) -> None:
    with pytest.raises(UsageError):
        save(store, name)
    with pytest.raises(UsageError):
        save(store, "fine", sql=" ")
    assert names(store) == []


def test_every_table_and_column_is_shown_with_its_meaning(store: Store) -> None:
    tables = store.read(read_schema)
    there = store.read(
        frame_of,
        "SELECT table_name, column_name FROM information_schema.columns "
        "WHERE table_name <> 'specviz_migrations'",
    )
    reported = {(table.name, column.name) for table in tables for column in table.columns}
    assert reported == set(there.itertuples(index=False, name=None))
    assert all(table.comment for table in tables)
    assert [c.name for table in tables for c in table.columns if not c.comment] == []
    decisions = next(table for table in tables if table.name == "decisions")
    assert [column.name for column in decisions.columns].index("depth") < 6

"""Staged rows on their way into the database: checked as a whole, stored as a whole.

Nothing is overwritten: what is here with equal rows stays, what is here with different rows is
refused. What people add (names, notes, tags, deletion) is not compared and stays unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import duckdb
from duckdb import DuckDBPyConnection

from specviz.errors import StoreError, UsageError
from specviz.store.benchmarks.reads import read_arms, read_benchmark, read_conversations
from specviz.store.exchange.contents import check_contents
from specviz.store.exchange.exported_tables import (
    HEADS,
    IMPORTED_AT,
    NOUNS,
    ExportedTable,
    RowOwner,
    columns,
)
from specviz.store.exchange.selection import named
from specviz.store.exchange.staging import Staged, check_types, tables_in
from specviz.store.file.database import first_line
from specviz.store.quoting import identifier
from specviz.store.runs.runs import read_run, request_of, rows_of
from specviz.store.saved import SHELVES, Shelf

Ids = dict[RowOwner, list[str]]

_REQUESTS = (
    "SELECT * REPLACE (NULL AS output_text, NULL AS side_text) FROM requests "
    "WHERE run_id IN (SELECT unnest(?::VARCHAR[]))"
)
"""Without the answers: all of them may be more than fits into memory, and any text can be read."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """The outcome of an import. `already` was here before, `deleted` of it is deleted here.

    Ids are by noun: run, benchmark, result. `rows` counts stored rows of all tables. Of what people
    saved, by noun (query, view): how many were stored, and the names that stay another's here.
    """

    stored: dict[str, list[str]] = field(default_factory=dict)
    already: dict[str, list[str]] = field(default_factory=dict)
    deleted: tuple[str, ...] = ()
    rows: int = 0
    saved: dict[str, int] = field(default_factory=dict)
    kept: dict[str, list[str]] = field(default_factory=dict)


def put(cursor: DuckDBPyConnection, staged: Staged) -> Arrived:
    """Store what arrived, within the caller's transaction.

    Raises UsageError for what cannot be stored; the caller then rolls back.
    """
    check_types(cursor, staged)
    for table in tables_in(staged):
        cursor.register(f"new_{table.name}", staged.dataset(table.name))
    try:
        check_contents(cursor, staged)
        here = _here(cursor, staged)
        _refuse_differences(cursor, staged, here)
        count = sum(_insert(cursor, table, staged, here) for table in tables_in(staged))
        shelves = [shelf for shelf in SHELVES if shelf.table in staged.files]
        kept = {shelf.noun: _names_taken(cursor, shelf) for shelf in shelves}
        saved = {shelf.noun: _put_saved(cursor, shelf) for shelf in shelves}
        new = {owner: _missing(cursor, owner, ids) for owner, ids in here.items()}
        _read_back(cursor, new)
        return Arrived(
            stored={NOUNS[owner]: ids for owner, ids in new.items() if ids},
            already={NOUNS[owner]: ids for owner, ids in here.items() if ids},
            deleted=tuple(_deleted(cursor, here)),
            rows=count,
            saved=saved,
            kept=kept,
        )
    except (duckdb.DataError, duckdb.ConstraintException) as error:
        raise UsageError(f"What arrived cannot be stored ({first_line(error)[:200]}).") from error
    finally:
        for table in tables_in(staged):
            cursor.unregister(f"new_{table.name}")


def _here(cursor: DuckDBPyConnection, staged: Staged) -> Ids:
    """Ids that arrived and are in the database already."""
    found: Ids = {}
    for owner, table in HEADS.items():
        if table in staged.files:
            cursor.execute(
                f"SELECT {owner} FROM {table} SEMI JOIN new_{table} USING ({owner}) ORDER BY 1"
            )
            found[owner] = [row[0] for row in cursor.fetchall()]
    return found


def _missing(cursor: DuckDBPyConnection, owner: RowOwner, here: list[str]) -> list[str]:
    cursor.execute(
        f"SELECT {owner} FROM new_{HEADS[owner]} "
        f"WHERE {owner} NOT IN (SELECT unnest(?::VARCHAR[])) ORDER BY 1",
        [here],
    )
    return [row[0] for row in cursor.fetchall()]


def _refuse_differences(cursor: DuckDBPyConnection, staged: Staged, here: Ids) -> None:
    different: set[str] = set()
    for table in tables_in(staged):
        ids = here.get(_head(table.owner), [])
        if ids:
            different |= _differing(cursor, table, staged, ids)
    if different:
        raise UsageError(
            f"{named(sorted(different))} is in the database already with other rows: nothing was "
            "imported, and nothing is ever overwritten."
        )


def _differing(
    cursor: DuckDBPyConnection, table: ExportedTable, staged: Staged, ids: list[str]
) -> set[str]:
    """Owners that are here with rows different from those that arrived.

    Sums of hashes are compared: sorting ten million rows takes minutes.
    """
    theirs = set(staged.dataset(table.name).schema.names)
    compared = [
        name
        for name in columns(cursor, table.name).names
        if name in theirs and name not in table.people
    ]
    listed = ", ".join(map(identifier, compared))
    owner = _owner_of(table)
    old, new = (
        f"SELECT {owner}, count(*) AS num_rows, sum(hash({listed})::HUGEINT) AS content "
        f"FROM {source} WHERE {_owned(table, requests)} GROUP BY ALL"
        for source, requests in (
            (table.name, "requests"),
            (f"new_{table.name}", "new_requests"),
        )
    )
    cursor.execute(
        f"SELECT {owner} FROM ({old}) old FULL JOIN ({new}) new USING ({owner}) "
        "WHERE (old.num_rows, old.content) IS DISTINCT FROM (new.num_rows, new.content)",
        {"ids": ids},
    )
    return {row[0] for row in cursor.fetchall()}


def _owned(table: ExportedTable, requests: str) -> str:
    within = "IN (SELECT unnest($ids::VARCHAR[]))"
    if table.owner is RowOwner.REQUEST:
        return f"request_id IN (SELECT request_id FROM {requests} WHERE run_id {within})"
    return f"{table.owner} {within}"


def _owner_of(table: ExportedTable) -> str:
    return "request_id" if table.owner is RowOwner.REQUEST else str(table.owner)


def _insert(cursor: DuckDBPyConnection, table: ExportedTable, staged: Staged, here: Ids) -> int:
    """Rows of what is not here yet; returns how many."""
    if table.owner is RowOwner.STORE:
        return 0
    theirs = staged.dataset(table.name).schema.names
    ours = columns(cursor, table.name).names
    taken = [name for name in ours if name in theirs and name != IMPORTED_AT]
    values: dict[str, object] = {"ids": here.get(_head(table.owner), [])}
    chosen = list(map(identifier, taken))
    names = list(chosen)
    if IMPORTED_AT in ours:
        names.append(IMPORTED_AT)
        chosen.append("$now::TIMESTAMP")
        values["now"] = datetime.now(UTC).replace(tzinfo=None)
    source = f"new_{table.name}"
    if table.owner is RowOwner.REQUEST and "started_at" not in theirs:
        names.append("started_at")
        chosen.append("(SELECT started_at FROM new_requests r WHERE r.request_id = s.request_id)")
    cursor.execute(
        f"INSERT INTO {table.name} ({', '.join(names)}) SELECT {', '.join(chosen)} "
        f"FROM {source} s WHERE NOT {_owned(table, 'new_requests')}",
        values,
    )
    row = cursor.fetchone()
    return int(row[0]) if row else 0


def _names_taken(cursor: DuckDBPyConnection, shelf: Shelf) -> list[str]:
    """Names that belong to something else here."""
    cursor.execute(
        f"SELECT new.name FROM new_{shelf.table} new JOIN {shelf.table} old USING (name) "
        f"WHERE new.{shelf.content} <> old.{shelf.content} ORDER BY 1"
    )
    return [row[0] for row in cursor.fetchall()]


def _put_saved(cursor: DuckDBPyConnection, shelf: Shelf) -> int:
    """Store what people saved under new names; returns how many."""
    cursor.execute(
        f"INSERT INTO {shelf.table} BY NAME "
        f"SELECT * FROM new_{shelf.table} ANTI JOIN {shelf.table} USING (name)"
    )
    row = cursor.fetchone()
    return int(row[0]) if row else 0


def _read_back(cursor: DuckDBPyConnection, new: Ids) -> None:
    """Read what the pages read of new runs and benchmarks; what cannot be read is not stored."""
    try:
        for run_id in new.get(RowOwner.RUN, []):
            read_run(cursor, run_id)
        cursor.execute(_REQUESTS, [new.get(RowOwner.RUN, [])])
        for row in rows_of(cursor):
            request_of(row)
        for benchmark_id in new.get(RowOwner.BENCHMARK, []):
            read_benchmark(cursor, benchmark_id)
            read_arms(cursor, benchmark_id)
            read_conversations(cursor, benchmark_id)
    except (ValueError, TypeError, KeyError, AttributeError, UsageError, StoreError) as error:
        raise UsageError(f"What arrived is no run of specviz: {str(error)[:200]}") from error


def _deleted(cursor: DuckDBPyConnection, here: Ids) -> list[str]:
    found: list[str] = []
    for owner, ids in here.items():
        cursor.execute(
            f"SELECT {owner} FROM {HEADS[owner]} WHERE deleted_at IS NOT NULL "
            f"AND {owner} IN (SELECT unnest(?::VARCHAR[])) ORDER BY 1",
            [ids],
        )
        found += [row[0] for row in cursor.fetchall()]
    return found


def _head(owner: RowOwner) -> RowOwner:
    return RowOwner.RUN if owner is RowOwner.REQUEST else owner

"""Which store pages show: a person's own, or the sample until there is something in it.

The two never mix: a page is about one of them. What is asked for by its id is looked for in your
own store first. Commands and their routes know your own store only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from duckdb import DuckDBPyConnection

from specviz.store.runs.tables import insert, to_utc
from specviz.store.shipped import Recorded, Shipped
from specviz.store.store import Store

_KEYS = (
    ("runs", "run_id"),
    ("runs", "group_id"),
    ("benchmarks", "benchmark_id"),
    ("elsewhere", "elsewhere_id"),
)
"""Where an id of an address may be."""


class Shown:
    """Your own store and the sample, if there is one. Methods may be called from any thread."""

    def __init__(self, own: Store, shipped: Shipped | None) -> None:
        self._own = own
        self._shipped = shipped

    def runs(self, ids: Sequence[str] = ()) -> Store:
        """What pages of runs are about. `ids` of runs, groups, benchmarks and results that an
        address names win over everything else. Raises StoreError."""
        return self._chosen(ids, has_runs)

    def benchmarks(self, ids: Sequence[str] = ()) -> Store:
        """What pages of benchmarks are about; see `runs`."""
        return self._chosen(ids, has_benchmarks)

    @property
    def recorded(self) -> Recorded | None:
        return self._shipped.recorded() if self._shipped else None

    @property
    def problem(self) -> str | None:
        """Why there is no sample where there should be one."""
        return self._shipped.problem if self._shipped else None

    def can_come_back(self) -> bool:
        """Whether there is a sample, and it was hidden. Raises StoreError."""
        return self._shipped is not None and self._own.read(hides_sample)

    def hide(self) -> None:
        """Show the sample no more, until `bring_back`. Raises StoreError."""
        self._own.write(hide_sample, datetime.now(UTC))

    def bring_back(self) -> None:
        """Raises StoreError."""
        self._own.write(bring_back_sample)

    def _chosen(self, ids: Sequence[str], has_any: Callable[[DuckDBPyConnection], bool]) -> Store:
        if self._shipped is None or self._own.read(has_one_of, ids):
            return self._own
        is_due = self._is_due(has_any)
        sample = self._shipped.store() if ids or is_due else None
        if sample is not None and (is_due or sample.read(has_one_of, ids)):
            return sample
        return self._own

    def _is_due(self, has_any: Callable[[DuckDBPyConnection], bool]) -> bool:
        return not self._own.read(has_any) and not self._own.read(hides_sample)


def has_runs(cursor: DuckDBPyConnection) -> bool:
    """Whether there is a line for the Runs list; deleted ones count while they can be restored."""
    return any(_has(cursor, table) for table in ("runs", "benchmarks", "elsewhere"))


def has_benchmarks(cursor: DuckDBPyConnection) -> bool:
    return _has(cursor, "benchmarks")


def has_one_of(cursor: DuckDBPyConnection, ids: Sequence[str]) -> bool:
    """Whether one of the ids is that of a run, a group, a benchmark or a result from elsewhere."""
    return bool(ids) and any(_has(cursor, table, key, ids) for table, key in _KEYS)


def hides_sample(cursor: DuckDBPyConnection) -> bool:
    return _has(cursor, "sample_hidden")


def hide_sample(cursor: DuckDBPyConnection, at: datetime) -> None:
    """Within the caller's transaction."""
    bring_back_sample(cursor)
    insert(cursor, "sample_hidden", {"hidden_at": to_utc(at)})


def bring_back_sample(cursor: DuckDBPyConnection) -> None:
    """Within the caller's transaction."""
    cursor.execute("DELETE FROM sample_hidden")


def _has(
    cursor: DuckDBPyConnection, table: str, key: str | None = None, ids: Sequence[str] = ()
) -> bool:
    """Whether there is a row, of one of the ids. One query each: together, as EXISTS, planning
    alone takes longer than all of them."""
    if key is None:
        cursor.execute(f"SELECT 1 FROM {table} LIMIT 1")
    else:
        marks = ", ".join("?" * len(ids))
        cursor.execute(f"SELECT 1 FROM {table} WHERE {key} IN ({marks}) LIMIT 1", [*ids])
    return cursor.fetchone() is not None

"""Which store pages show: a person's own, or the sample until there is something in it.

The two never mix: a page is about one of them. What is asked for by its id is looked for in one's
own store first. Commands and their routes know one's own store only.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from duckdb import DuckDBPyConnection

from specviz.errors import StoreError
from specviz.store.runs.tables import insert, to_utc
from specviz.store.shipped import Recorded, Shipped
from specviz.store.store import Store


@dataclass(frozen=True, slots=True)
class Holding:
    """What a store has: runs, benchmarks or results of other tools (deleted ones, too, while they
    can be restored), benchmarks, something of the ids asked for, and the mark of a hidden sample.
    """

    has_runs: bool
    has_benchmarks: bool
    has_asked: bool
    hides_sample: bool


class Shown:
    """One's own store and the sample, if there is one. Methods may be called from any thread."""

    def __init__(self, own: Store, shipped: Shipped | None) -> None:
        self._own = own
        self._shipped = shipped

    def runs(self, ids: Sequence[str] = ()) -> Store:
        """What pages of runs are about. `ids` of runs, groups, benchmarks and results that an
        address names win over everything else. Raises StoreError."""
        holding = self._own.read(read_holding, ids)
        return self._chosen(holding, ids, is_empty=not holding.has_runs)

    def benchmarks(self, ids: Sequence[str] = ()) -> Store:
        """What pages of benchmarks are about; see `runs`."""
        holding = self._own.read(read_holding, ids)
        return self._chosen(holding, ids, is_empty=not holding.has_benchmarks)

    @property
    def recorded(self) -> Recorded | None:
        return self._shipped.recorded() if self._shipped else None

    @property
    def problem(self) -> str | None:
        """Why there is no sample where there should be one."""
        return self._shipped.problem if self._shipped else None

    def can_come_back(self) -> bool:
        """Whether there is a sample, and it was hidden. Raises StoreError."""
        return self._shipped is not None and self._own.read(read_holding).hides_sample

    def hide(self) -> None:
        """Show the sample no more, until `bring_back`. Raises StoreError."""
        self._own.write(hide_sample, datetime.now(UTC))

    def bring_back(self) -> None:
        """Raises StoreError."""
        self._own.write(bring_back_sample)

    def prepare(self) -> None:
        """Open the sample in the background where a page will show it. Raises StoreError."""
        holding = self._own.read(read_holding)
        is_whole = holding.has_runs and holding.has_benchmarks
        if self._shipped is not None and not is_whole and not holding.hides_sample:
            threading.Thread(target=self._shipped.store, name="sample", daemon=True).start()

    def _chosen(self, holding: Holding, ids: Sequence[str], *, is_empty: bool) -> Store:
        is_due = is_empty and not holding.hides_sample
        if holding.has_asked or self._shipped is None or not (ids or is_due):
            return self._own
        sample = self._shipped.store()
        if sample is not None and (is_due or sample.read(read_holding, ids).has_asked):
            return sample
        return self._own


def read_holding(cursor: DuckDBPyConnection, ids: Sequence[str] = ()) -> Holding:
    cursor.execute(
        "SELECT EXISTS (FROM runs) OR EXISTS (FROM benchmarks) OR EXISTS (FROM elsewhere), "
        "EXISTS (FROM benchmarks), "
        "EXISTS (FROM runs WHERE list_contains($ids, run_id) OR list_contains($ids, group_id)) "
        "OR EXISTS (FROM benchmarks WHERE list_contains($ids, benchmark_id)) "
        "OR EXISTS (FROM elsewhere WHERE list_contains($ids, elsewhere_id)), "
        "EXISTS (FROM sample_hidden)",
        {"ids": list(ids)},
    )
    row = cursor.fetchone()
    if row is None:
        raise StoreError("The database does not say what it has.")
    return Holding(*map(bool, row))


def hide_sample(cursor: DuckDBPyConnection, at: datetime) -> None:
    """Within the caller's transaction."""
    bring_back_sample(cursor)
    insert(cursor, "sample_hidden", {"hidden_at": to_utc(at)})


def bring_back_sample(cursor: DuckDBPyConnection) -> None:
    """Within the caller's transaction."""
    cursor.execute("DELETE FROM sample_hidden")

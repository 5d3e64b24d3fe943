"""What is stored about single runs in addition to their configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from duckdb import DuckDBPyConnection

from specviz.store.history.line import Item, Kind, shown
from specviz.store.runs.runs import rows_of


@dataclass(frozen=True, slots=True)
class About:
    """What is stored about a run in addition to its configuration.

    `benchmark_id` is None for a run that is not part of a benchmark; `num_together` counts the
    runs of its group. Deleted with its benchmark counts as deleted.
    """

    run_id: str
    name: str | None
    note: str | None
    tags: tuple[str, ...]
    deleted_at: datetime | None
    imported_at: datetime | None
    specviz_version: str
    benchmark_id: str | None
    num_together: int

    @property
    def item(self) -> Item:
        """What is deleted and restored: a benchmark as a whole."""
        if self.benchmark_id:
            return Item(Kind.BENCHMARK, self.benchmark_id)
        return Item(Kind.RUN, self.run_id)


_ABOUT = """
    SELECT run_id, runs.name, runs.note, runs.tags, runs.imported_at, runs.specviz_version,
        coalesce(runs.deleted_at, benchmarks.deleted_at) AS deleted_at, benchmark_id,
        (SELECT count(*) FROM runs AS others WHERE others.group_id = runs.group_id) AS num_together
    FROM runs LEFT JOIN benchmarks ON runs.group_id = benchmark_id
    WHERE list_contains($run_ids, run_id)
"""


def read_about(cursor: DuckDBPyConnection, run_ids: Sequence[str]) -> dict[str, About]:
    """What is stored about runs in addition to their configuration, by id, without unknown ids."""
    cursor.execute(_ABOUT, {"run_ids": list(run_ids)})
    return {row["run_id"]: About(**shown(row)) for row in rows_of(cursor)}

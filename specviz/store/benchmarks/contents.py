"""What stored benchmarks have measured, in one read, to choose between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.analysis.benchmark.informative import Contents, MeasuredArm
from specviz.store.runs.runs import rows_of

_ARMS = """
    SELECT benchmark_id, any_value(benchmarks.started_at) AS started_at, arm_index,
        any_value(arms.name) AS name, any_value(arms.engine) AS engine,
        any_value(arms.method) AS method, any_value(arms.k) AS k, any_value(arms.model) AS model,
        any_value(arms.draft) AS draft, count(*) AS requests,
        list(DISTINCT requests.category) AS categories,
        list(DISTINCT {'temperature': runs.temperature, 'concurrency': runs.concurrency})
            FILTER (runs.concurrency > 0) AS places
    FROM samples JOIN requests USING (request_id) JOIN rounds USING (benchmark_id, round_id)
        JOIN runs ON runs.run_id = rounds.run_id
        JOIN benchmark_arms AS arms USING (benchmark_id, arm_index)
        JOIN benchmarks USING (benchmark_id)
    WHERE requests.status = 'finished' AND list_contains($1, benchmark_id)
    GROUP BY benchmark_id, arm_index ORDER BY benchmark_id, arm_index
"""


def read_contents(cursor: DuckDBPyConnection, benchmark_ids: Sequence[str]) -> dict[str, Contents]:
    """By id; a benchmark without finished requests is not in it."""
    cursor.execute(_ARMS, [list(benchmark_ids)])
    arms: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(cursor):
        arms[row["benchmark_id"]].append(row)
    return {benchmark_id: _contents(benchmark_id, rows) for benchmark_id, rows in arms.items()}


def _contents(benchmark_id: str, rows: list[dict[str, Any]]) -> Contents:
    return Contents(
        benchmark_id,
        rows[0]["started_at"].replace(tzinfo=UTC),
        sum(row["requests"] for row in rows),
        len({category for row in rows for category in row["categories"] or () if category}),
        tuple(_arm(row) for row in rows),
    )


def _arm(row: dict[str, Any]) -> MeasuredArm:
    return MeasuredArm(
        row["name"],
        row["engine"],
        row["method"],
        row["k"],
        row["model"],
        row["draft"],
        frozenset((place["temperature"], place["concurrency"]) for place in row["places"] or ()),
    )

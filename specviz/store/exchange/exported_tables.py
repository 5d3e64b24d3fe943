"""The tables that leave and enter a database: whose their rows are, and what names a row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa
from duckdb import DuckDBPyConnection


class Owner(StrEnum):
    """What a row belongs to; the value is the column that names it."""

    RUN = "run_id"
    REQUEST = "request_id"  # whose run the table requests tells
    BENCHMARK = "benchmark_id"
    ELSEWHERE = "elsewhere_id"
    STORE = "name"  # the database as a whole


@dataclass(frozen=True, slots=True)
class Shape:
    """One table. `key` names a row; `people` are columns that do not say what was measured."""

    table: str
    owner: Owner
    key: tuple[str, ...]
    people: tuple[str, ...] = ()


IMPORTED_AT = "imported_at"
_NOTES = ("name", "note", "tags", "deleted_at", IMPORTED_AT)

SHAPES = (
    Shape("benchmarks", Owner.BENCHMARK, ("benchmark_id",), _NOTES),
    Shape("benchmark_prompts", Owner.BENCHMARK, ("benchmark_id", "prompt_index")),
    Shape("benchmark_arms", Owner.BENCHMARK, ("benchmark_id", "arm_index")),
    Shape("runs", Owner.RUN, ("run_id",), _NOTES),
    Shape("rounds", Owner.RUN, ("round_id",)),
    Shape("requests", Owner.RUN, ("request_id",)),
    Shape("samples", Owner.RUN, ("request_id",)),
    Shape("steps", Owner.REQUEST, ("request_id", "step_index")),
    Shape("decisions", Owner.REQUEST, ("request_id", "step_index", "draft_index")),
    Shape("k_replays", Owner.BENCHMARK, ("benchmark_id", "arm_index", "prompt_index", "turn")),
    Shape("k_step_times", Owner.BENCHMARK, ("benchmark_id", "arm_index", "k")),
    Shape("elsewhere", Owner.ELSEWHERE, ("elsewhere_id",), (*_NOTES, "file_name")),
    Shape("elsewhere_requests", Owner.ELSEWHERE, ("elsewhere_id", "request_index")),
    Shape("saved_queries", Owner.STORE, ("name",)),
)
"""Every table of the schema, owners before what they own."""

BY_NAME = {shape.table: shape for shape in SHAPES}

HEADS = {Owner.RUN: "runs", Owner.BENCHMARK: "benchmarks", Owner.ELSEWHERE: "elsewhere"}
"""The tables whose rows are what people name: a run, a benchmark, results from elsewhere."""

NOUNS = {Owner.RUN: "run", Owner.BENCHMARK: "benchmark", Owner.ELSEWHERE: "result"}


def columns(cursor: DuckDBPyConnection, table: str) -> pa.Schema:
    """Names and Arrow types of a table's columns, in its order."""
    return cursor.execute(f"SELECT * FROM {table} LIMIT 0").arrow().schema


def required(cursor: DuckDBPyConnection) -> dict[str, frozenset[str]]:
    """Columns that are never NULL, by table."""
    cursor.execute(
        "SELECT table_name, list(column_name) FROM information_schema.columns "
        "WHERE table_catalog = current_database() AND table_schema = current_schema() "
        "AND is_nullable = 'NO' GROUP BY ALL"
    )
    return {table: frozenset(names) for table, names in cursor.fetchall()}

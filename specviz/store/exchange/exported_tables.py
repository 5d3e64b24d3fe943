"""The tables of an export: what their rows belong to, and the key of a row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa
from duckdb import DuckDBPyConnection


class RowOwner(StrEnum):
    """What a row belongs to; the value is the column that names it."""

    RUN = "run_id"
    REQUEST = "request_id"  # its run is in the table requests
    BENCHMARK = "benchmark_id"
    TOOL_RESULT = "elsewhere_id"
    STORE = "name"  # the database as a whole


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """One table. `key` identifies a row; `people` are columns that people fill in."""

    name: str
    owner: RowOwner
    key: tuple[str, ...]
    people: tuple[str, ...] = ()


IMPORTED_AT = "imported_at"
_NOTES = ("name", "note", "tags", "deleted_at", IMPORTED_AT)

EXPORTED_TABLES = (
    ExportedTable("benchmarks", RowOwner.BENCHMARK, ("benchmark_id",), _NOTES),
    ExportedTable("benchmark_prompts", RowOwner.BENCHMARK, ("benchmark_id", "prompt_index")),
    ExportedTable("benchmark_arms", RowOwner.BENCHMARK, ("benchmark_id", "arm_index")),
    ExportedTable("runs", RowOwner.RUN, ("run_id",), _NOTES),
    ExportedTable("rounds", RowOwner.RUN, ("round_id",)),
    ExportedTable("blocks", RowOwner.RUN, ("block",)),
    ExportedTable("requests", RowOwner.RUN, ("request_id",)),
    ExportedTable("samples", RowOwner.RUN, ("request_id",)),
    ExportedTable("steps", RowOwner.REQUEST, ("request_id", "step_index")),
    ExportedTable("decisions", RowOwner.REQUEST, ("request_id", "step_index", "draft_index")),
    ExportedTable(
        "k_replays", RowOwner.BENCHMARK, ("benchmark_id", "arm_index", "prompt_index", "turn")
    ),
    ExportedTable("k_step_times", RowOwner.BENCHMARK, ("benchmark_id", "arm_index", "k")),
    ExportedTable("elsewhere", RowOwner.TOOL_RESULT, ("elsewhere_id",), (*_NOTES, "file_name")),
    ExportedTable("elsewhere_requests", RowOwner.TOOL_RESULT, ("elsewhere_id", "request_index")),
    ExportedTable("saved_queries", RowOwner.STORE, ("name",)),
    ExportedTable("saved_views", RowOwner.STORE, ("name",)),
)
"""Every table of the schema, owners before the rows they own."""

BY_NAME = {table.name: table for table in EXPORTED_TABLES}

HEADS = {RowOwner.RUN: "runs", RowOwner.BENCHMARK: "benchmarks", RowOwner.TOOL_RESULT: "elsewhere"}
"""The table with one row per run, benchmark or result of another tool."""

NOUNS = {RowOwner.RUN: "run", RowOwner.BENCHMARK: "benchmark", RowOwner.TOOL_RESULT: "result"}


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

"""Columns that had another name before a migration: for files and queries made before it."""

from __future__ import annotations

import re
from typing import Any

MIGRATION = "0007_names.sql"

RENAMED = {
    "requests": {"tokens_per_s": "output_throughput"},
    "elsewhere": {
        "output_tokens_per_s": "output_throughput",
        "requests_per_s": "request_throughput",
    },
}
"""New name by old name by table, as `MIGRATION` renames them."""

QUERIES = "saved_queries"
_NEW_NAME = {old: new for columns in RENAMED.values() for old, new in columns.items()}
_OLD_NAMES = re.compile(rf"\b({'|'.join(_NEW_NAME)})\b")


def current_column(table: str, name: str) -> str:
    """What a column of the table is called now."""
    return RENAMED.get(table, {}).get(name, name)


def current_sql(sql: str) -> str:
    """A query written before the migration, with the columns' names of now."""
    return _OLD_NAMES.sub(lambda found: _NEW_NAME[found[0]], sql)


def current_row(table: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row exported before the migration, as the tables hold it now."""
    if table == QUERIES and isinstance(row.get("sql"), str):
        return {**row, "sql": current_sql(row["sql"])}
    return {current_column(table, name): value for name, value in row.items()}

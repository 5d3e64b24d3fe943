"""Queries that people saved, by name."""

from __future__ import annotations

from datetime import datetime

from duckdb import DuckDBPyConnection

from specviz.errors import UsageError
from specviz.store.saved import QUERIES, put_saved
from specviz.store.sql.guard import MAX_CHARACTERS


def put_query(cursor: DuckDBPyConnection, name: str, sql: str, at: datetime) -> None:
    """Save a query, replacing one of that name, within the caller's transaction.

    Raises UsageError for an invalid name, for an empty query and for one that is too long.
    """
    if not sql.strip() or len(sql) > MAX_CHARACTERS:
        raise UsageError(f"A saved query has 1 to {MAX_CHARACTERS:,} characters.")
    put_saved(cursor, QUERIES, name, sql, at)

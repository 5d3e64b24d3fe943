"""A result of another tool and its requests, as they are stored."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.errors import StoreError
from specviz.store.runs.runs import rows_of

Row = dict[str, Any]

MOST_REQUESTS = 1000


def read_tool_result(cursor: DuckDBPyConnection, elsewhere_id: str) -> Row:
    """The columns of `elsewhere` by name, times in UTC. Raises StoreError if there is none."""
    cursor.execute("SELECT * FROM elsewhere WHERE elsewhere_id = ?", [elsewhere_id])
    for row in rows_of(cursor):
        return {
            name: value.replace(tzinfo=UTC) if isinstance(value, datetime) else value
            for name, value in row.items()
        }
    raise StoreError(f"There are no results {elsewhere_id} in the database.")


def read_tool_requests(cursor: DuckDBPyConnection, elsewhere_id: str) -> list[Row]:
    """Its first `MOST_REQUESTS` requests as in the file; empty if the file has none."""
    cursor.execute(
        "SELECT request_index, left(sequence, 80) AS sequence, started_s, prompt_tokens, "
        "output_tokens, ttft_ms, tpot_ms, e2el_ms, num_drafts, num_draft_tokens, "
        "num_accepted_tokens, left(output_text, 200) AS output_text, error FROM elsewhere_requests "
        f"WHERE elsewhere_id = ? ORDER BY request_index LIMIT {MOST_REQUESTS}",
        [elsewhere_id],
    )
    return list(rows_of(cursor))


def read_stepped(cursor: DuckDBPyConnection, elsewhere_id: str) -> list[tuple[int, str | None]]:
    """Place and name of the first `MOST_REQUESTS` requests that have steps."""
    cursor.execute(
        "SELECT request_index, left(sequence, 80) FROM elsewhere_requests "
        "WHERE elsewhere_id = ? AND len(steps) > 0 "
        f"ORDER BY request_index LIMIT {MOST_REQUESTS}",
        [elsewhere_id],
    )
    return cursor.fetchall()

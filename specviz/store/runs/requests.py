"""The requests of a run, to choose one of them; read with a cursor of the caller's."""

from __future__ import annotations

from dataclasses import dataclass

from duckdb import DuckDBPyConnection

from specviz.errors import StoreError
from specviz.store.runs.runs import PROMPT_START_CHARS, RequestRow, request_row, rows_of


@dataclass(frozen=True, slots=True)
class RequestTitle:
    """One request as a list shows it."""

    request_id: str
    prompt_start: str
    category: str | None
    status: str


def read_titles(cursor: DuckDBPyConnection, run_id: str) -> list[RequestTitle]:
    """All requests of a run in the order they were sent; none for an unknown run."""
    cursor.execute(
        f"SELECT request_id, left(prompt, {PROMPT_START_CHARS}) AS prompt_start, category, status "
        "FROM requests WHERE run_id = ? ORDER BY started_at, request_id",
        [run_id],
    )
    return [RequestTitle(**row) for row in rows_of(cursor)]


def read_request(cursor: DuckDBPyConnection, run_id: str, place: int = 0) -> RequestRow:
    """The request at a place, from 0, in the order of `read_titles`. Raises StoreError."""
    cursor.execute(
        "SELECT * FROM requests WHERE run_id = ? ORDER BY started_at, request_id LIMIT 1 OFFSET ?",
        [run_id, place],
    )
    for row in rows_of(cursor):
        return request_row(row)
    raise StoreError(f"Nothing is stored of request {place + 1} of run {run_id} yet.")

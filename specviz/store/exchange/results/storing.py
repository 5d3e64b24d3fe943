"""Results of other tools on their way into `elsewhere` and `elsewhere_requests`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pyarrow as pa
from duckdb import DuckDBPyConnection

from specviz.errors import UsageError
from specviz.store.exchange.arrival import Arrived
from specviz.store.exchange.exported_tables import NOUNS, RowOwner, columns
from specviz.store.exchange.results.measured import Json
from specviz.store.exchange.results.reading import Results
from specviz.store.runs.tables import insert_arrow


def put_results(cursor: DuckDBPyConnection, results: Results) -> Arrived:
    """Store what is not here yet, within the caller's transaction.

    Raises UsageError for values that the tables cannot hold.
    """
    ids = [row["elsewhere_id"] for row in results.rows]
    cursor.execute(
        "SELECT elsewhere_id, deleted_at IS NOT NULL FROM elsewhere "
        "WHERE elsewhere_id IN (SELECT unnest(?::VARCHAR[]))",
        [ids],
    )
    here = dict(cursor.fetchall())
    now = datetime.now(UTC).replace(tzinfo=None)
    rows, requests = [], []
    for row, members in zip(results.rows, results.requests, strict=True):
        if row["elsewhere_id"] not in here:
            rows.append(row | {"imported_at": now})
            owner = {"elsewhere_id": row["elsewhere_id"]}
            requests += [owner | {"request_index": i} | one for i, one in enumerate(members)]
    _insert(cursor, "elsewhere", rows)
    _insert(cursor, "elsewhere_requests", requests)
    noun = NOUNS[RowOwner.TOOL_RESULT]
    stored = [row["elsewhere_id"] for row in rows]
    return Arrived(
        stored={noun: stored} if stored else {},
        already={noun: sorted(here)} if here else {},
        deleted=tuple(sorted(one for one, deleted in here.items() if deleted)),
        rows=len(rows) + len(requests),
    )


def _insert(cursor: DuckDBPyConnection, table: str, rows: Sequence[Json]) -> None:
    try:
        arrow = pa.Table.from_pylist(list(rows), schema=columns(cursor, table))
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"A figure is not of the type it should be ({error}).") from error
    insert_arrow(cursor, table, arrow)

"""Users' SQL on the store: read-only, in a process of its own, within a time, memory and row limit.

The walls, from the inside: the statement is checked on DuckDB's parse (`guard`); it runs in a READ
ONLY transaction that is rolled back, on a copy that is opened for reading (a shared store: attached
for reading), in a database without access to files, network and its own configuration; in a process
that has a limit on its memory, reaches no file but the copy and no network
(`confinement`), and is killed when its time is over. DuckDB calls none of this a boundary
against hostile users: the app that offers it stays on loopback.

This process has no limit and no thread in a query: whatever one does, the app goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specviz.errors import StoreError, UsageError
from specviz.store.sql.guard import check_text
from specviz.store.sql.process import Overdue
from specviz.store.sql.result import Column, SqlResult
from specviz.store.store import Store

LIMIT_ROWS = 1_000
MAX_ROWS = 100_000
TIMEOUT_S = 10.0
MEMORY_BYTES = 5 * 1024**3 // 2
"""More than DuckDB's own buffers may take, so that a large query spills before it fails."""


def run_sql(
    store: Store,
    sql: str,
    *,
    limit_rows: int = LIMIT_ROWS,
    timeout_s: float = TIMEOUT_S,
    memory: int = MEMORY_BYTES,
    while_waiting: Callable[[], None] = lambda: None,
) -> SqlResult:
    """The first `limit_rows` rows of all that was committed before; `memory` is in bytes.

    `while_waiting` is called ten times a second until the query has ended; what it raises stops
    the query and passes through. Raises UsageError for a statement that may not run, and StoreError
    for one that fails or takes more than its limits.
    """
    if not 1 <= limit_rows <= MAX_ROWS:
        raise UsageError(f"Ask for 1 to {MAX_ROWS:,} rows.")
    check_text(sql)
    hidden = [*store.queries.hidden, *store.places]
    request = {"sql": sql, "limit_rows": limit_rows, "memory": memory, "hidden": hidden}
    try:
        answer = store.queries.ask(request, timeout_s, while_waiting)
    except Overdue:
        raise StoreError(
            f"The query was stopped, because it took longer than {timeout_s:g} s: ask for less."
        ) from None
    message = answer.message
    if "refused" in message:
        raise UsageError(str(message["refused"]))
    if "failed" in message:
        raise StoreError(store.masked(str(message["failed"])))
    return SqlResult(
        tuple(Column(str(name), str(kind)) for name, kind in message["columns"]),
        tuple(map(_row, message["rows"])),
        bool(message["truncated"]),
        float(message["elapsed_ms"]),
        answer.as_of,
    )


def _row(row: Any) -> tuple[Any, ...]:
    return tuple(row)

"""`POST /api/query` {"sql", "limit"}: a command's SQL on this app's store.

The same guard and limits as everywhere; the answer is what `specviz query --json` prints.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from specviz.errors import UsageError
from specviz.runtime import current
from specviz.store.sql.processes import AT_ONCE
from specviz.store.sql.result import document
from specviz.store.sql.sandbox import LIMIT_ROWS, run_sql
from specviz.web.answer import answering
from specviz.web.body import read_json

MAX_BODY_BYTES = 256 * 1024

_asking = ThreadPoolExecutor(2 * AT_ONCE, "sql-asking")
"""Queries that wait must not keep the threads that store runs."""


async def query(request: Request) -> JSONResponse:
    """400 for a refused statement, 500 for one that failed or took too long."""
    body = await read_json(request)
    try:
        sql, limit = str(body["sql"]), int(body.get("limit", LIMIT_ROWS))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise UsageError(f'The body must be {{"sql": text, "limit": rows}}: {error}.') from error
    ask = partial(run_sql, current().store, sql, limit_rows=limit)
    found = await asyncio.get_running_loop().run_in_executor(_asking, ask)
    return JSONResponse(document(found))


routes = [Route("/api/query", answering(query), methods=["POST"])]

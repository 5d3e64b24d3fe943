"""`POST /api/ingest`: stores a run that another process recorded."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from specviz.errors import UsageError
from specviz.runtime import current
from specviz.store import recording_from_dict
from specviz.web.answer import answering
from specviz.web.body import read_json

MAX_BODY_BYTES = 256 * 1024 * 1024


async def ingest(request: Request) -> JSONResponse:
    """200 (`stored` false: it is here already), 400 for bad bodies, 500 for failures."""
    try:
        run, requests = recording_from_dict(await read_json(request))
    except (UsageError, ValueError) as error:
        raise UsageError(f"This is not a recorded run: {error}") from error
    stored = await asyncio.to_thread(current().store.ingest, run, requests)
    return JSONResponse({"run_id": run.run_id, "stored": stored})


routes = [Route("/api/ingest", answering(ingest), methods=["POST"])]

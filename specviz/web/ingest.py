"""`POST /api/ingest`: stores a run that another process recorded."""

from __future__ import annotations

import asyncio
import json

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from specviz.errors import StoreError
from specviz.runtime import current
from specviz.store import recording_from_dict
from specviz.web.access import for_programs

MAX_BODY_BYTES = 256 * 1024 * 1024


async def ingest(request: Request) -> JSONResponse:
    """200 (`stored` false: it is here already), 400 and 413 for bad bodies, 500 for failures."""
    if int(request.headers.get("content-length", 0)) > MAX_BODY_BYTES:
        return _error(413, f"A run may take at most {MAX_BODY_BYTES >> 20} MiB.")
    try:
        run, requests = recording_from_dict(json.loads(await request.body()))
    except ValueError as error:
        return _error(400, f"This is not a recorded run: {error}")
    try:
        stored = await asyncio.to_thread(current().store.ingest, run, requests)
    except StoreError as error:
        return _error(500, str(error))
    return JSONResponse({"run_id": run.run_id, "stored": stored})


routes = [Route("/api/ingest", for_programs(ingest), methods=["POST"])]


def _error(status: int, text: str) -> JSONResponse:
    return JSONResponse({"error": text}, status_code=status)

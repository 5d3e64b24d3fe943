"""`/api/benchmarks`: commands start, follow and resume benchmarks in the app that owns the store.

POST /api/benchmarks {"plan": TOML}     {"benchmark_id"}
POST /api/benchmarks/ID/resume          as pause, unpause, cancel
GET  /api/benchmarks/ID                 progress, null if this process never ran it
GET  /api/benchmarks/ID/results         what `specviz bench --json` prints
"""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from specviz.bench.plan.toml import parse_plan
from specviz.bench.results import document
from specviz.errors import UsageError
from specviz.runtime import current
from specviz.web.answer import answering
from specviz.web.body import read_json

MAX_BODY_BYTES = 1024 * 1024
ACTIONS = ("resume", "pause", "unpause", "cancel")


async def start(request: Request) -> JSONResponse:
    try:
        plan = await asyncio.to_thread(parse_plan, str((await read_json(request))["plan"]))
    except (KeyError, TypeError) as error:
        raise UsageError(f'The body must be {{"plan": TOML}}: {error}.') from error
    benchmark_id = await asyncio.to_thread(current().benchmarks.start, plan)
    return JSONResponse({"benchmark_id": benchmark_id})


async def act(request: Request) -> JSONResponse:
    action, benchmark_id = request.path_params["action"], request.path_params["benchmark_id"]
    if action not in ACTIONS:
        raise UsageError(f"There is no action {action}: use one of {', '.join(ACTIONS)}.")
    await asyncio.to_thread(getattr(current().benchmarks, action), benchmark_id)
    return JSONResponse({"benchmark_id": benchmark_id})


async def progress(request: Request) -> JSONResponse:
    found = current().benchmarks.progress(request.path_params["benchmark_id"])
    return JSONResponse(found.to_dict() if found else None)


async def results(request: Request) -> JSONResponse:
    benchmark_id = request.path_params["benchmark_id"]
    return JSONResponse(await asyncio.to_thread(document, current().store, benchmark_id))


routes = [
    Route("/api/benchmarks", answering(start), methods=["POST"]),
    Route("/api/benchmarks/{benchmark_id}", answering(progress)),
    Route("/api/benchmarks/{benchmark_id}/results", answering(results)),
    Route("/api/benchmarks/{benchmark_id}/{action}", answering(act), methods=["POST"]),
]

"""`/api/benchmarks`: commands start, follow and resume benchmarks in the app that owns the store.

POST /api/benchmarks {"plan": TOML}     {"benchmark_id"}
POST /api/benchmarks/ID/resume          as pause, unpause, cancel
GET  /api/benchmarks/ID                 progress, null if this process never ran it
GET  /api/benchmarks/ID/results         what `specviz bench --json` prints
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from specviz.bench.plan_toml import parse_plan
from specviz.bench.results import document
from specviz.errors import SpecvizError, UsageError
from specviz.runtime import current
from specviz.web.body import read_json

Handler = Callable[[Request], Awaitable[Response]]

MAX_BODY_BYTES = 1024 * 1024
ACTIONS = ("resume", "pause", "unpause", "cancel")


def _answering(handler: Handler) -> Handler:
    """400 for what the caller can correct, 500 for the rest, always with a sentence."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except UsageError as error:
            return _error(400, str(error))
        except SpecvizError as error:
            return _error(500, str(error))

    return answer


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
    Route("/api/benchmarks", _answering(start), methods=["POST"]),
    Route("/api/benchmarks/{benchmark_id}", _answering(progress)),
    Route("/api/benchmarks/{benchmark_id}/results", _answering(results)),
    Route("/api/benchmarks/{benchmark_id}/{action}", _answering(act), methods=["POST"]),
]


def _error(status: int, text: str) -> JSONResponse:
    return JSONResponse({"error": text}, status_code=status)

"""`/api/servers`: the fleet of the app that owns the store, for commands.

GET  /api/servers                        every server, as the last checks found it
POST /api/servers {"name", "url", …}     add one
POST /api/servers/remove {"name"}        remove one
POST /api/servers/check {"name"}         ask one now, all of them without a name

Each answers what `specviz servers … --json` prints.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from specviz.errors import UsageError
from specviz.fleet.answers import add_answer, check_answer, list_answer, remove_answer, server_of
from specviz.runtime import current
from specviz.web.answer import answering
from specviz.web.body import read_json


async def list_all(request: Request) -> JSONResponse:
    runtime = current()
    return JSONResponse(await asyncio.to_thread(list_answer, runtime.store, runtime.fleet))


async def add(request: Request) -> JSONResponse:
    server = server_of(await read_json(request))
    return JSONResponse(await asyncio.to_thread(add_answer, current().store, server))


async def remove(request: Request) -> JSONResponse:
    name = _name(await read_json(request))
    if name is None:
        raise UsageError('The body must be {"name": text}.')
    return JSONResponse(await asyncio.to_thread(remove_answer, current().store, name))


async def check(request: Request) -> JSONResponse:
    name, runtime = _name(await read_json(request)), current()
    return JSONResponse(await asyncio.to_thread(check_answer, runtime.store, runtime.fleet, name))


def _name(body: Any) -> str | None:
    name = body.get("name") if isinstance(body, dict) else body
    if name is not None and not isinstance(name, str):
        raise UsageError('The body must be {"name": text}.')
    return name


routes = [
    Route("/api/servers", answering(list_all)),
    Route("/api/servers", answering(add), methods=["POST"]),
    Route("/api/servers/remove", answering(remove), methods=["POST"]),
    Route("/api/servers/check", answering(check), methods=["POST"]),
]

"""The two routes that the plugin adds to the API server.

GET /specviz/handshake            what this server can trace, as the worker reported it
GET /specviz/trace/{key}?from=N   the lines of a trace from line N on, as NDJSON while they appear

The trace stays open until the client goes away or nothing was written for `IDLE_LIMIT_S`: only
the client knows how many tokens it waits for. A trace that has not begun is waited for as long as
the client waits for a first token; `MAX_READERS` may read or wait at once. vLLM guards `/v1` with
its API key and nothing of plugins, so the key is checked here too.
"""

import asyncio
import os
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from specviz import __version__
from specviz.servers.vllm.tracing import spool
from specviz.servers.vllm.tracing.keys import is_key

POLL_S = 0.02
"""Every reader polls: at 4 ms, 16 of them cost a tenth of a two-core server's tokens/s."""
IDLE_LIMIT_S = 600.0
START_LIMIT_S = 120.0
WAITING_POLL_S = 0.1
MAX_READERS = 1024
GRACE_S = 30.0
"""How long a trace outlives its reader, who may come back after a broken connection."""


class TraceRoutes:
    """An endpoint plugin as `vllm.plugins.endpoint_plugins.interface.EndpointPlugin` wants it."""

    name = "specviz"
    required_tasks = ("generate",)

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._readers = 0

    def attach_router(self, app: Any) -> None:
        """Add both routes, guarded like vLLM's own."""
        from fastapi import APIRouter, Depends, Query
        from fastapi.responses import JSONResponse, StreamingResponse

        router = APIRouter(prefix="/specviz", dependencies=[Depends(api_key_check(app))])

        @router.get("/handshake")
        def handshake() -> JSONResponse:
            return JSONResponse(spool.read_handshake(self._folder) or no_report(self._folder))

        @router.get("/trace/{key}")
        async def trace(key: str, first: int = Query(0, alias="from", ge=0)) -> Any:
            if not is_key(key):
                return JSONResponse({"error": "A key is specviz- and 32 hex digits."}, 404)
            if self._readers >= MAX_READERS:
                return JSONResponse({"error": "Too many traces are being read: ask again."}, 503)
            lines = self._counted(follow(spool.trace_path(self._folder, key), first))
            return StreamingResponse(lines, media_type="application/x-ndjson")

        app.include_router(router)

    async def _counted(self, lines: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
        self._readers += 1
        try:
            async with aclosing(lines):
                async for some in lines:
                    yield some
        finally:
            self._readers -= 1

    async def init_state(self, engine_client: Any, state: Any, args: Any) -> None:
        """Nothing to prepare."""


def no_report(folder: Path) -> spool.Json:
    """The handshake of a server whose worker has not reported."""
    reason = spool.why_unusable(folder) or (
        "the engine's worker did not load the specviz plugin: its own log says why."
    )
    return {"specviz": __version__, "tracing": False, "reason": reason}


def api_key_check(app: Any) -> Any:
    """A dependency that refuses requests without the server's API key, if it has one."""
    from fastapi import HTTPException, Request

    configured = getattr(app.state.args, "api_key", None) or [os.environ.get("VLLM_API_KEY")]
    keys = [key.encode() for key in configured if key]

    def check(request: Request) -> None:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        matches = [secrets.compare_digest(given.encode(), key) for key in keys]
        if keys and not (scheme.lower() == "bearer" and any(matches)):
            raise HTTPException(401, "Unauthorized")

    return check


async def begins(path: Path) -> bool:
    """Wait for a trace's first line; False where it has not come within `START_LIMIT_S`."""
    loop = asyncio.get_running_loop()
    started_s = loop.time()
    while not path.exists():
        waited_s = loop.time() - started_s
        if waited_s >= START_LIMIT_S:
            return False
        await asyncio.sleep(POLL_S if waited_s < 1.0 else WAITING_POLL_S)
    return True


async def follow(path: Path, first: int) -> AsyncGenerator[bytes, None]:
    """Yield the complete lines of a growing file from line `first` on."""
    idle_s, seen, rest = 0.0, 0, b""
    if not await begins(path):
        return
    try:
        with path.open("rb") as file:
            while idle_s < IDLE_LIMIT_S:
                if not (data := file.read()):
                    await asyncio.sleep(POLL_S)
                    idle_s += POLL_S
                    continue
                lines = (rest + data).split(b"\n")
                rest, idle_s = lines.pop(), 0.0
                fresh = lines[max(first - seen, 0) :]
                seen += len(lines)
                if fresh:
                    yield b"".join(line + b"\n" for line in fresh)
    finally:
        asyncio.get_running_loop().call_later(GRACE_S, _remove_if_quiet, path)


def _remove_if_quiet(path: Path) -> None:
    """Remove a trace that is no longer written to; one still growing is left to the spool."""
    try:
        if time.time() - path.stat().st_mtime >= GRACE_S:
            path.unlink()
    except FileNotFoundError:
        return

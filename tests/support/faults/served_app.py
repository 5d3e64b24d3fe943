"""The real app under uvicorn, for one test file: `-m tests.support.faults.served_app PORT ROUTES`.

It writes down the routes it has, marks what it answers itself with a header (what its guard refuses
has none), and has limits on bodies that a test can exceed quickly.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import uvicorn
from starlette.middleware import Middleware
from starlette.routing import WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specviz.web import exchange, ingest

ingest.MAX_BODY_BYTES = exchange.MAX_BODY_BYTES = 2**20  # before the rules read them

import app as real  # noqa: E402

INSIDE = b"x-inside"


class Inside:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def marked(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                message["headers"] = [*message.get("headers", []), (INSIDE, b"1")]
            await send(message)

        await self._app(scope, receive, marked)


def main(port: int, routes: Path) -> None:
    real.warm_up = lambda: None  # torch
    app = real.app
    app._user_middleware.append(Middleware(Inside))
    app._starlette_app = app._build_starlette_app()
    found = [
        (
            getattr(route, "path", "") or "/{path:path}",
            ["WEBSOCKET"] if isinstance(route, WebSocketRoute) else _methods(route),
        )
        for route in app._starlette_app.routes
    ]
    routes.write_text(json.dumps(found))
    uvicorn.run(app, host="127.0.0.1", port=port, ws="websockets-sansio", access_log=False)


def _methods(route: object) -> list[str]:
    """A mount has none: files are got."""
    return sorted(getattr(route, "methods", None) or ["GET"])


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))

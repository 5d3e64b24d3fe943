"""A server of any kind over HTTP: its pages, and an answer to every chat, whose body it keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.support.servers.hostile_server import Says, stream
from tests.support.servers.scripted_server import chunk, usage

ANSWER = stream(chunk("a", finish="stop"), usage(1), "[DONE]")


@contextmanager
def echoing(
    pages: Mapping[str, Says], answer: bytes = ANSWER, status: int = 200
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The server's URL, and the bodies of the chats that it was asked for, oldest first."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path.partition("?")[0])
            self._say(404 if page is None else 200, str(page or "").encode(), "application/json")

        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self._say(status, answer, "text/event-stream")

        def _say(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)

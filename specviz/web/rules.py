"""Who may call which route of the app: a row for each, and a route without a row is refused.

`docs/security.md` shows these rows; `web/guard.py` enforces them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from starlette.routing import compile_path

from specviz.web import benchmarks, exchange, ingest, query

WEBSOCKET = "WEBSOCKET"
NOTHING = 64 * 1024
"""Bytes of a body where none is expected."""


class Who(StrEnum):
    """Whom a route admits."""

    PAGES = "pages"
    """The app's own pages, in a browser of its user or of somebody with the token."""

    PROGRAMS = "programs"
    """Programs of the app's user (by the secret) or with the token; no web page at all."""

    OWNER = "owner"
    """Programs of the app's user: what starts processes here."""

    NOBODY = "nobody"
    """Streamlit's, and not used by this app."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One row. `path` is Starlette's pattern, `max_body` in bytes (None: the route's own limit).

    A `linked` route may be opened by a link on another site.
    """

    path: str
    methods: tuple[str, ...]
    who: Who
    max_body: int | None = NOTHING
    linked: bool = False


GET = ("GET",)
POST = ("POST",)
SOCKET = (WEBSOCKET,)
ANY = ("DELETE", "GET", "OPTIONS", "PATCH", "POST", "PUT")

RULES = (
    Rule("/api/ingest", POST, Who.PROGRAMS, ingest.MAX_BODY_BYTES),
    Rule("/api/query", POST, Who.PROGRAMS, query.MAX_BODY_BYTES),
    Rule("/api/export", GET, Who.PROGRAMS),
    Rule("/api/import", POST, Who.PROGRAMS, exchange.MAX_BODY_BYTES),
    Rule("/api/servers", GET, Who.PROGRAMS),
    Rule("/api/servers", POST, Who.PROGRAMS),
    Rule("/api/servers/remove", POST, Who.PROGRAMS),
    Rule("/api/servers/check", POST, Who.PROGRAMS),
    Rule("/api/benchmarks", POST, Who.OWNER, benchmarks.MAX_BODY_BYTES),
    Rule("/api/benchmarks/{benchmark_id}", GET, Who.PROGRAMS),
    Rule("/api/benchmarks/{benchmark_id}/results", GET, Who.PROGRAMS),
    Rule("/api/benchmarks/{benchmark_id}/{action}", POST, Who.OWNER),
    Rule("/ws/jobs/{job_id}", SOCKET, Who.PAGES),
    Rule("/ws/logged/{elsewhere_id}/{place:int}", SOCKET, Who.PAGES),
    Rule("/ws/{kind:str}/{run_id}", SOCKET, Who.PAGES),
    Rule("/ws/{kind:str}/{run_id}/{place:int}", SOCKET, Who.PAGES),
    Rule("/_stcore/stream", SOCKET, Who.PAGES),
    Rule("/_stcore/upload_file/{session_id}/{file_id}", ("PUT", "DELETE"), Who.PAGES, None),
    Rule("/_stcore/health", GET, Who.PAGES),
    Rule("/_stcore/host-config", GET, Who.PAGES),
    Rule("/_stcore/bidi-components/{path:path}", GET, Who.PAGES),
    Rule("/component/{path:path}", GET, Who.PAGES),
    Rule("/media/{file_id:path}", GET, Who.PAGES),
    Rule("/_stcore/metrics", GET, Who.NOBODY),
    Rule("/_stcore/agent/interact", ANY, Who.NOBODY),
    Rule("/_stcore/agent/openapi.json", ANY, Who.NOBODY),
    Rule("/_stcore/agent/mcp", ANY, Who.NOBODY),
    Rule("/auth/login", GET, Who.NOBODY),
    Rule("/auth/logout", GET, Who.NOBODY),
    Rule("/oauth2callback", GET, Who.NOBODY),
    Rule("/{path:path}", GET, Who.PAGES, linked=True),  # the pages and their scripts
)


def rule_of(path: str, method: str) -> Rule | None:
    """The row of a request; HEAD is a GET. None where there is none, so for CORS preflights."""
    method = "GET" if method == "HEAD" else method
    *rows, pages = (rule for rule in RULES if _pattern(rule.path).match(path))
    return next((rule for rule in rows or [pages] if method in rule.methods), None)


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return compile_path(path)[0]

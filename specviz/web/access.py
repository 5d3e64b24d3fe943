"""Who may call the routes for programs: this machine, and others that have the token.

The operator sets SPECVIZ_INGEST_TOKEN for the app and for the machines that send to it; they send
`Authorization: Bearer TOKEN` (RFC 6750). It does not protect against somebody who reads the
network: across machines put TLS in front of the app.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from functools import wraps
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from specviz.remote.token import TOKEN, own_token

Handler = Callable[[Request], Awaitable[Response]]

FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers that a proxy adds: behind one on this machine every caller looks local."""


def for_programs(handler: Handler) -> Handler:
    """A route that refuses web pages and callers without access: see `refusal`."""

    @wraps(handler)
    async def answer(request: Request) -> Response:
        refused = refusal(request)
        return await handler(request) if refused is None else refused

    return answer


def refusal(connection: HTTPConnection) -> JSONResponse | None:
    """None if this caller may go on, else 401 or 403 with a sentence that says what to do."""
    if "origin" in connection.headers:
        return _refused(403, "This is for programs, not for web pages.")
    token = own_token()
    scheme, _, given = connection.headers.get("authorization", "").partition(" ")
    if token is not None and scheme.lower() == "bearer":
        if hmac.compare_digest(given.strip().encode(), token.encode()):
            return None
        return _refused(401, f"The token differs from the app's: set {TOKEN} to the same value.")
    if is_local(connection):
        return None
    if token is not None:
        return _refused(401, f"From another machine a token is needed: set {TOKEN} as in the app.")
    return _refused(
        403,
        f"This app takes no calls from other machines: set {TOKEN} for the app, "
        "and for the machines that may call it.",
    )


def is_local(connection: HTTPConnection) -> bool:
    """Whether the caller is a program of this machine that asked for this machine.

    A host name other than localhost may be a web page's that now resolves to this machine (DNS
    rebinding); numbers cannot be made to.
    """
    if any(name in connection.headers for name in FORWARDED) or connection.client is None:
        return False
    host = _host(connection.headers.get("host", ""))
    if host != "localhost" and not _is_address(host):
        return False
    peer, server = connection.client.host, connection.scope.get("server")
    own = server is not None and peer == server[0]  # by its own outer address
    return _is_address(peer) and (own or ip_address(peer).is_loopback)


def _host(header: str) -> str:
    """The host of `host:port`, empty for what is none."""
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _refused(status: int, text: str) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"error": text}, status_code=status, headers=headers)

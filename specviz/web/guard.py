"""The one gate in front of the whole app: pages, Streamlit's own routes, WebSockets and the API.

In this order: the name the app was called by, the route's row in `rules`, what the browser says
about the page that asks, who calls, how large the body is.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specviz.remote.token import CALLER_HEADER, OWN_CALLER, SECRET_HEADER, TOKEN_CALLER
from specviz.runtime import current
from specviz.web.caller import Caller, Refused, caller_of, uninvited
from specviz.web.peer import address_of
from specviz.web.rules import WEBSOCKET, Rule, Who, rule_of

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})
HOSTS = "SPECVIZ_HOSTS"
REFUSED_SOCKET = 4403

LARGEST_PORT = 2**16 - 1
_HOST = re.compile(
    r"(?:(?P<name>[a-z0-9._-]+)|\[(?P<address>[0-9a-f.]*:[0-9a-f:.]+)\])(?::(?P<port>[0-9]{1,5}))?"
)

_ONCE = ("host", "origin", "authorization", "sec-fetch-site", SECRET_HEADER.lower())


class Guard:
    """ASGI middleware. `hosts`: names of the app besides loopback; `base_path`: Streamlit's."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], base_path: str = "") -> None:
        self._app = app
        self._hosts = hosts | LOOPBACK
        self._base_path = f"/{base_path.strip('/')}".rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        sent = _Sent(send)
        try:
            rule, caller = self._admitted(scope)
            inner = {**scope, "headers": _with_caller(scope, caller)}
            body = _Body(receive, rule.max_body, sent)
            body.check(Headers(scope=scope))
            await self._app(inner, body, sent.unframed if rule.linked else sent)
        except Refused as refused:
            sent.refused = refused
        if sent.refused is not None and not sent.begun:  # else the server closes the connection
            await _refuse(scope, sent.refused, receive, send)

    def _admitted(self, scope: Scope) -> tuple[Rule, Caller]:
        """The route's rule and the caller. Raises Refused."""
        headers = Headers(scope=scope)
        if any(len(headers.getlist(name)) > 1 for name in _ONCE):
            raise Refused(400, "A header that may be sent once was sent twice.")
        self._check_host(scope, headers)
        method = WEBSOCKET if scope["type"] == "websocket" else scope["method"]
        rule = rule_of(self._path(scope), method)
        if rule is None or rule.who is Who.NOBODY:
            raise Refused(404, "There is nothing here.")
        _check_page(rule, headers)
        # browsers always send an Origin with a WebSocket
        program = rule.who is not Who.PAGES or (method == WEBSOCKET and "origin" not in headers)
        caller = caller_of(scope, headers, current().secret, password=rule.who is Who.PAGES)
        if caller not in _welcome(rule, program=program):
            if caller is Caller.TOKEN:
                raise Refused(
                    403,
                    "This starts processes, so the token is not enough: run the command on the "
                    "app's machine as the app's user.",
                )
            raise uninvited(program=program)
        return rule, caller

    def _check_host(self, scope: Scope, headers: Headers) -> None:
        """Against DNS rebinding: a web page's name that now resolves to this machine."""
        host = _host(headers.get("host", ""))
        reached = (scope.get("server") or ("",))[0]
        address = address_of(host)  # no name can be made to be one
        is_reached = address is not None and address == address_of(reached)
        if host not in self._hosts and not is_reached:
            raise Refused(
                403,
                "The app was called by a name that is not its own: use the address it was started "
                f"with, or add the name to {HOSTS}, separated by commas.",
            )

    def _path(self, scope: Scope) -> str:
        path: str = scope["path"]
        if path == self._base_path or path.startswith(f"{self._base_path}/"):
            return path.removeprefix(self._base_path) or "/"
        raise Refused(404, "There is nothing here.")


def _check_page(rule: Rule, headers: Headers) -> None:
    """Refuse what a page of another site asks, and to programs' routes any page."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if rule.who in (Who.PROGRAMS, Who.OWNER):
        if origin is not None or site is not None:
            raise Refused(403, "This is for programs, not for web pages.")
        return
    same = origin is None or _netloc(origin) == headers.get("host", "").lower()
    if same and site in (None, "same-origin", "none"):
        return
    followed = (
        rule.linked
        and origin is None
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )
    if not followed:
        raise Refused(403, "Another site's page asked for this: open the app itself.")


def _welcome(rule: Rule, *, program: bool) -> tuple[Caller, ...]:
    if rule.who is Who.OWNER:
        return (Caller.OWNER,)
    shown = (Caller.OWNER, Caller.TOKEN)
    return shown if program else (*shown, Caller.OWN_PROCESS)


class _Body:
    """A request's body, refused once it is too long, whether its length was announced or not."""

    def __init__(self, receive: Receive, limit: int | None, sent: _Sent) -> None:
        self._receive = receive
        self._limit = limit
        self._sent = sent
        self._size = 0

    def check(self, headers: Headers) -> None:
        announced = headers.get("content-length", "0")
        if self._limit is not None and announced.isdecimal() and int(announced) > self._limit:
            raise self._too_large()

    async def __call__(self) -> Message:
        message = await self._receive()
        if self._limit is not None and message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            if self._size > self._limit:
                self._sent.refused = self._too_large()
                raise self._sent.refused
        return message

    def _too_large(self) -> Refused:
        assert self._limit is not None
        kib = self._limit >> 10
        size = f"{kib} KiB" if kib < 1024 else f"{kib >> 10:,} MiB"
        return Refused(413, f"The body may take at most {size}.")


class _Sent:
    """What was answered so far. Once a body was refused, no route answers to it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False
        self.refused: Refused | None = None

    async def __call__(self, message: Message) -> None:
        if self.begun or self.refused is None:
            self.begun = True
            await self._send(message)

    async def unframed(self, message: Message) -> None:
        """Say that no other site may show the page in a frame, where it could steer clicks."""
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)["X-Frame-Options"] = "SAMEORIGIN"
        await self(message)


async def _refuse(scope: Scope, refused: Refused, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": REFUSED_SOCKET, "reason": str(refused)})
        return
    headers = {"Connection": "close", "X-Content-Type-Options": "nosniff"}
    api = "/api/" in scope["path"]
    if refused.status == 401:
        headers["WWW-Authenticate"] = "Bearer" if api else 'Basic realm="specviz", charset="UTF-8"'
    answer: Response
    if api:
        answer = JSONResponse({"error": str(refused)}, refused.status, headers)
    else:
        answer = PlainTextResponse(str(refused), refused.status, headers)
    await answer(scope, receive, send)


def _with_caller(scope: Scope, caller: Caller) -> list[tuple[bytes, bytes]]:
    """The headers, with who called for the pages to read."""
    name = CALLER_HEADER.lower().encode()
    value = TOKEN_CALLER if caller is Caller.TOKEN else OWN_CALLER
    return [pair for pair in scope["headers"] if pair[0] != name] + [(name, value.encode())]


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _host(header: str) -> str:
    """The host of `host` or `host:port`, empty for what is neither (RFC 9110, 7.2)."""
    found = _HOST.fullmatch(header.lower())
    if found is None or int(found["port"] or 0) > LARGEST_PORT:
        return ""
    name: str = found["name"] or found["address"]
    return name if found["name"] or address_of(name) is not None else ""

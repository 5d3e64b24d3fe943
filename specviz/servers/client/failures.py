"""What went wrong with a request, in one sentence that says what to do."""

from __future__ import annotations

import httpx2

from specviz.errors import (
    EngineError,
    MalformedReply,
    RequestRefused,
    ServerUnreachable,
    StreamBroken,
)
from specviz.servers.checked import excerpt, listed, parsed
from specviz.servers.client.api_key import wants_key
from specviz.servers.client.probe import FoundServer


def stream_error(error: Exception, server: FoundServer, timeout_s: float) -> EngineError:
    """Translate an exception of the connection that an answer came through."""
    if isinstance(error, TimeoutError | httpx2.ReadTimeout):
        return stalled(timeout_s)
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return nothing_answers(server)
    return connection_broke(error, server)


def status_error(status: int, body: bytes, server: FoundServer, model: str) -> EngineError:
    """The server answered with another status than 200; `body` has its own sentence."""
    reason = _reason(body)
    if 300 <= status < 400:
        return RequestRefused(
            f"The server redirects requests (status {status}), and a prompt is not sent on to "
            "another address: use the address that it redirects to."
        )
    if status == 404:
        return RequestRefused(
            f"The server does not serve {excerpt(model)!r}: it serves {listed(server.models)}."
        )
    if status in (401, 403):
        return RequestRefused(wants_key(server.url))
    if status >= 500:
        return StreamBroken(
            f"The server failed on this request (status {status}: {reason}); "
            "look at its log, and restart it if it has exited."
        )
    return RequestRefused(f"The server refused the request: {reason}")


def nothing_answers(server: FoundServer) -> ServerUnreachable:
    return ServerUnreachable(
        f"Nothing answers at {server.url} any more: the server has probably exited."
    )


def connection_broke(error: BaseException, server: FoundServer) -> StreamBroken:
    reason = excerpt(str(error)) or type(error).__name__
    return StreamBroken(
        f"The connection to {server.url} broke ({reason}): the server has probably exited; "
        "what arrived is kept."
    )


def stalled(timeout_s: float) -> StreamBroken:
    return StreamBroken(
        f"The server sent nothing for {timeout_s:g} s, so the request was given up; "
        "what arrived is kept."
    )


def cut_off() -> StreamBroken:
    return StreamBroken(
        "The stream ended before the server marked the answer as complete: the server "
        "or a proxy in between cut it off; what arrived is kept."
    )


def too_long(max_tokens: int) -> StreamBroken:
    return StreamBroken(
        f"The server sent far more than the {max_tokens} tokens that were asked for, so the "
        "request was given up; what arrived is kept."
    )


def reported_error(reason: str) -> StreamBroken:
    return StreamBroken(
        f"The server ended the answer with an error ({reason.rstrip('.')}): look at its log; "
        "what arrived is kept."
    )


def not_json() -> StreamBroken:
    return StreamBroken(
        "The server sent a chunk that is not valid JSON; what arrived before it is kept."
    )


def reason_in(body: object) -> str | None:
    """The server's own sentence in the body of an error, cut if long; None where there is none."""
    inner = body.get("error", body) if isinstance(body, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else inner
    if not isinstance(message, str) or not message.strip():
        return None
    return excerpt(message.strip().splitlines()[0])


def event_of(data: bytes) -> object:
    """The JSON of one event of a stream. Raises StreamBroken, also where it reports an error."""
    try:
        value = parsed(data, "a chunk")
    except MalformedReply:
        raise not_json() from None
    if isinstance(value, dict) and value.get("error"):
        raise reported_error(reason_in(value) or "no reason given")
    return value


def _reason(body: bytes) -> str:
    """The server's sentence, or the start of a page that something else answered with."""
    try:
        reason = reason_in(parsed(body, "the answer"))
    except MalformedReply:
        reason = None
    start = body[:2000].decode(errors="replace").strip().partition("\n")[0]
    return reason or excerpt(start, 200) or "no reason given"

"""What went wrong with a request, in one sentence that says what to do."""

from __future__ import annotations

from typing import Any

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

MAX_REASONS = 8
"""Entries of a list that are looked through for one."""

NO_REASON = "no reason given"

_SAYS = ("error", "message", "msg", "detail", "errors", "error_message", "status_msg", "reason")


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
    if status == 404 and model not in server.models:
        guess = f" It does not serve {excerpt(model)!r}: it serves {listed(server.models)}."
    else:
        guess = f" {wants_key(server.url)}" if status == 401 else ""
    if status >= 500:
        return StreamBroken(
            f"The server failed on this request (status {status}: {reason}); "
            "look at its log, and restart it if it has exited."
        )
    return RequestRefused(
        f"The server refused the request (status {status}): {reason.rstrip('.')}.{guess}"
    )


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


def sent_nothing(tokens: int) -> StreamBroken:
    return StreamBroken(
        f"The server counts {tokens} output tokens and sent none of them: look at its log, or try "
        "another version of it."
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


def reason_in(body: object, depth: int = 4) -> str | None:
    """The server's own sentence in what it says of an error, cut if long; None where there is none.

    OpenAI's `{"error": {"message": …}}`, FastAPI's `{"detail": [{"loc": …, "msg": …}]}` and what
    lies between.
    """
    if isinstance(body, str):
        line = body.strip().partition("\n")[0]
        return excerpt(line) if line else None
    inner = body if isinstance(body, list) else []
    if isinstance(body, dict):
        inner = [body.get(name) for name in _SAYS]
    found = (reason_in(one, depth - 1) for one in inner[:MAX_REASONS] if depth)
    reason = next(filter(None, found), None)
    if reason and isinstance(body, dict) and isinstance(body.get("loc"), list):
        return f"{excerpt('.'.join(map(str, body['loc'])))}: {reason}"
    return reason


def error_in(body: dict[str, Any]) -> str | None:
    """The error that a chunk reports, in the server's words; None where it reports none."""
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    for place in (body, choice):
        for name in ("error", "errors"):
            if isinstance(place, dict) and place.get(name):
                return reason_in(place[name]) or NO_REASON
    if choices is not None or body.get("usage"):
        return None
    kinds = (body.get("object"), body.get("type"))
    if "detail" in body or any(str(kind).endswith("error") for kind in kinds):
        return reason_in(body) or NO_REASON
    codes = (body.get(name) for name in ("code", "status", "status_code"))
    failed = any(isinstance(code, int) and code >= 400 for code in codes)
    return reason_in(body) if failed or isinstance(body.get("code"), str) else None


def _reason(body: bytes) -> str:
    """The server's sentence, or the start of a page that something else answered with."""
    try:
        reason = reason_in(parsed(body, "the answer"))
    except MalformedReply:
        reason = None
    start = body[:2000].decode(errors="replace").strip().partition("\n")[0]
    return reason or excerpt(start, 200) or NO_REASON

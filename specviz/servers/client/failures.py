"""What went wrong with a request, in one sentence that says what to do."""

from __future__ import annotations

import httpx2
import openai

from specviz.errors import EngineError, RequestRefused, ServerUnreachable, StreamBroken
from specviz.servers.client.api_key import wants_key
from specviz.servers.client.probe import FoundServer


def stream_error(error: Exception, server: FoundServer, model: str) -> EngineError:
    """Translate an exception of the openai package or its transport."""
    if isinstance(error, openai.APIStatusError):
        return status_error(error.status_code, _message(error), server, model)
    if isinstance(error, openai.APITimeoutError):
        return StreamBroken(
            "The server stopped sending and did not close the connection; what arrived is kept."
        )
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        if isinstance(cause, httpx2.ConnectError):
            return nothing_answers(server)
        return connection_broke(cause, server)
    if isinstance(error, httpx2.HTTPError):
        return connection_broke(error, server)
    if isinstance(error, openai.APIError):
        return reported_error(_message(error))
    return not_json()


def status_error(status: int, reason: str, server: FoundServer, model: str) -> EngineError:
    """The server answered with another status than 200; `reason` is its own sentence."""
    if status == 404:
        served = ", ".join(server.models)
        return RequestRefused(f"The server does not serve {model!r}: it serves {served}.")
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
    reason = str(error) or type(error).__name__
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


def reported_error(reason: str) -> StreamBroken:
    return StreamBroken(f"The server reported an error mid-stream: {reason}")


def not_json() -> StreamBroken:
    return StreamBroken(
        "The server sent a chunk that is not valid JSON; what arrived before it is kept."
    )


def reason_in(body: object) -> str | None:
    """The server's own sentence in the body of an error, None where there is none."""
    inner = body.get("error", body) if isinstance(body, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else None
    return message.strip().splitlines()[0] if isinstance(message, str) and message.strip() else None


def _message(error: openai.APIError) -> str:
    """The reason without the wrapping of the openai package."""
    message = error.message.splitlines()[0] if error.message else "no reason given"
    return reason_in(error.body) or message

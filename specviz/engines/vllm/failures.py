"""What went wrong with a request, in one sentence that says what to do."""

from __future__ import annotations

import httpx2
import openai

from specviz.engines.vllm.capabilities import Capabilities
from specviz.errors import EngineError, RequestRefused, ServerUnreachable, StreamBroken


def stream_error(error: Exception, server: Capabilities, model: str) -> EngineError:
    """Translate an exception of the openai package or its transport."""
    if isinstance(error, openai.NotFoundError):
        served = ", ".join(server.models)
        return RequestRefused(f"The server does not serve {model!r}: it serves {served}.")
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return RequestRefused("The server wants an API key: set OPENAI_API_KEY and try again.")
    if isinstance(error, openai.InternalServerError):
        return StreamBroken(
            f"The server failed on this request (status {error.status_code}: {_message(error)}); "
            "look at its log, and restart it if it has exited."
        )
    if isinstance(error, openai.APIStatusError):
        return RequestRefused(f"The server refused the request: {_message(error)}")
    if isinstance(error, openai.APITimeoutError):
        return StreamBroken(
            "The server stopped sending and did not close the connection; what arrived is kept."
        )
    if isinstance(error, openai.APIConnectionError):
        return _connection_error(error, server)
    if isinstance(error, httpx2.HTTPError):
        return StreamBroken(
            f"The connection to {server.url} broke ({_reason(error)}): the server has probably "
            "exited; what arrived is kept."
        )
    if isinstance(error, openai.APIError):
        return StreamBroken(f"The server reported an error mid-stream: {_message(error)}")
    return StreamBroken(
        "The server sent a chunk that is not valid JSON; what arrived before it is kept."
    )


def _connection_error(error: openai.APIConnectionError, server: Capabilities) -> EngineError:
    cause = error.__cause__ or error
    if isinstance(cause, httpx2.ConnectError):
        return ServerUnreachable(
            f"Nothing answers at {server.url} any more: the server has probably exited."
        )
    return StreamBroken(
        f"The connection to {server.url} broke ({_reason(cause)}): the server has probably "
        "exited; what arrived is kept."
    )


def _message(error: openai.APIError) -> str:
    """The server's own sentence, without the wrapping of the openai package."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        message = inner.get("message") if isinstance(inner, dict) else None
        if isinstance(message, str) and message:
            return message.splitlines()[0]
    return error.message.splitlines()[0] if error.message else "no reason given"


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__

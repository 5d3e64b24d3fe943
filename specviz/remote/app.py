"""Every call to a running app: its URL, the token, timeouts, and what a refusal means."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from specviz.errors import AppUnreachable, SpecvizError, StoreError, UsageError
from specviz.remote.token import authorization, secret_header

TIMEOUT = httpx2.Timeout(60.0)
FILE_TIMEOUT = httpx2.Timeout(30.0, read=600.0, write=600.0)
"""For exports and imports: the app reads or writes a whole store meanwhile."""

SHOWN = 200
"""Characters of an answer that is not the app's own."""


def client(url: str, token: str | None = None) -> httpx2.Client:
    """An HTTP client of the app at `url`. Raises UsageError for a token that cannot be sent."""
    return httpx2.Client(base_url=url, headers=authorization(token), timeout=TIMEOUT)


def call(url: str, verb: str, path: str, **request: Any) -> Any:
    """The JSON that the app at `url` answers; errors as of `answer`."""
    with answer(url, verb, path, **request) as response:
        response.read()
        try:
            return response.json()
        except ValueError as error:
            raise _failed(url, response) from error


@contextmanager
def answer(
    url: str,
    verb: str,
    path: str,
    *,
    token: str | None = None,
    secret: str | None = None,
    **request: Any,
) -> Iterator[httpx2.Response]:
    """An accepted request's response, its body not read yet; `request` as httpx2 takes it.

    The token is that of the environment unless one is given; `secret` is of the app at `url`.

    Raises UsageError for what the app refuses (400), StoreError if it fails or lets nobody in, with
    the app's own sentence where it gave one, and AppUnreachable if nothing answers.
    """
    url = url.rstrip("/")
    try:
        with (
            client(url, token) as http,
            http.stream(verb, path, headers=secret_header(secret), **request) as response,
        ):
            if response.status_code != httpx2.codes.OK:
                response.read()
                raise _refusal(url, response)
            yield response
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise AppUnreachable(
            f"The specviz app at {url} does not answer ({str(error) or type(error).__name__}): "
            "check that it is running."
        ) from error


def _refusal(url: str, response: httpx2.Response) -> SpecvizError:
    try:
        sentence = str(response.json()["error"])
    except (ValueError, KeyError, TypeError):
        return _failed(url, response)
    kind = UsageError if response.status_code == httpx2.codes.BAD_REQUEST else StoreError
    return kind(sentence)


def _failed(url: str, response: httpx2.Response) -> StoreError:
    shown = f"HTTP {response.status_code} {response.text[:SHOWN]}".strip()
    return StoreError(f"The specviz app at {url} failed: {shown}")

"""What commands that call a running app have in common: nothing answers, or it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from specviz.errors import StoreError, UsageError


@contextmanager
def answering(url: str) -> Iterator[None]:
    """Raises StoreError if nothing answers there."""
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise StoreError(
            f"The specviz app at {url} does not answer ({str(error) or type(error).__name__}): "
            "check that it is running."
        ) from error


def check(url: str, response: httpx.Response) -> None:
    """Raises UsageError for what the app refuses, StoreError if it failed; both in its words."""
    if response.status_code == httpx.codes.OK:
        return
    try:
        told = str(response.json()["error"])
    except (ValueError, KeyError, TypeError):
        told = f"The specviz app at {url} failed: HTTP {response.status_code}."
    if response.status_code == httpx.codes.BAD_REQUEST:
        raise UsageError(told)
    raise StoreError(told)

"""SQL on the store of a running app, for a command that meets it: see `query.py`."""

from __future__ import annotations

from typing import Any

import httpx

from specviz.errors import StoreError, UsageError
from specviz.store.ingest_client import authorization

TIMEOUT_S = 60.0


def ask(url: str, sql: str, limit: int) -> dict[str, Any]:
    """What `specviz query --json` prints.

    Raises UsageError for a statement the app refuses, StoreError if it fails or nothing answers.
    """
    url = url.rstrip("/")
    try:
        response = httpx.post(
            f"{url}/api/query",
            json={"sql": sql, "limit": limit},
            headers=authorization(),
            timeout=TIMEOUT_S,
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise StoreError(
            f"The specviz app at {url} does not answer ({str(error) or type(error).__name__}): "
            "check that it is running."
        ) from error
    if response.status_code == httpx.codes.OK:
        return dict(response.json())
    try:
        told = str(response.json()["error"])
    except (ValueError, KeyError, TypeError):
        told = f"The specviz app at {url} failed: HTTP {response.status_code}."
    if response.status_code == httpx.codes.BAD_REQUEST:
        raise UsageError(told)
    raise StoreError(told)

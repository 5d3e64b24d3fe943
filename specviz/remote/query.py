"""SQL on the store of a running app, for a command that meets it: see `query.py`."""

from __future__ import annotations

from typing import Any

import httpx

from specviz.remote.app import answering, check
from specviz.remote.ingest import authorization

TIMEOUT_S = 60.0


def ask(url: str, sql: str, limit: int) -> dict[str, Any]:
    """What `specviz query --json` prints.

    Raises UsageError for a statement the app refuses, StoreError if it fails or nothing answers.
    """
    url = url.rstrip("/")
    with answering(url):
        response = httpx.post(
            f"{url}/api/query",
            json={"sql": sql, "limit": limit},
            headers=authorization(),
            timeout=TIMEOUT_S,
        )
    check(url, response)
    return dict(response.json())

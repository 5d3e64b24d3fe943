"""SQL on the store of a running app: the client of `/api/query`."""

from __future__ import annotations

from typing import Any

from specviz.remote.app import call


def ask(url: str, sql: str, limit: int, *, secret: str | None = None) -> dict[str, Any]:
    """What `specviz query --json` prints; at most `limit` rows.

    Raises UsageError for a statement the app refuses, StoreError if it fails or nothing answers.
    """
    return dict(call(url, "POST", "/api/query", json={"sql": sql, "limit": limit}, secret=secret))

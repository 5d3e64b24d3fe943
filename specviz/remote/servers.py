"""The fleet of a running app: the client of `/api/servers`."""

from __future__ import annotations

from typing import Any

from specviz.remote.app import call
from specviz.store.named_servers import NamedServer


def list_there(url: str, *, secret: str | None = None) -> dict[str, Any]:
    """Each of these returns what `specviz servers … --json` prints.

    Raises UsageError for what the app refuses, StoreError if it fails or nothing answers.
    """
    return dict(call(url, "GET", "/api/servers", secret=secret))


def add_there(url: str, server: NamedServer, *, secret: str | None = None) -> dict[str, Any]:
    return dict(call(url, "POST", "/api/servers", json=server.described(), secret=secret))


def remove_there(url: str, name: str, *, secret: str | None = None) -> dict[str, Any]:
    return dict(call(url, "POST", "/api/servers/remove", json={"name": name}, secret=secret))


def check_there(url: str, name: str | None, *, secret: str | None = None) -> dict[str, Any]:
    return dict(call(url, "POST", "/api/servers/check", json={"name": name}, secret=secret))

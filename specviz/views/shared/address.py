"""Where the app answers: its URL for other programs, its routes under Streamlit's base path."""

from __future__ import annotations

import os
from collections.abc import Sequence

import streamlit as st
from starlette.routing import BaseRoute, Route, WebSocketRoute


def app_url() -> str:
    """The app's URL from Streamlit's configuration."""
    address = st.get_option("server.address") or "127.0.0.1"
    root = f"http://{address}:{st.get_option('server.port')}"
    return f"{root}/{base_path()}" if base_path() else root


def known_hosts(names: str) -> frozenset[str]:
    """Names of this app: its address, Streamlit's `browser.serverAddress`, and those of the
    environment variable `names`, separated by commas."""
    configured = (st.get_option("server.address"), st.get_option("browser.serverAddress"))
    found = (*configured, *os.environ.get(names, "").split(","))
    return frozenset(name.strip().lower() for name in found if name and name.strip())


def under_base_path(routes: Sequence[Route | WebSocketRoute]) -> list[BaseRoute]:
    """The app's own routes where the pages look for them; Streamlit moves only its own.

    No mount: it would answer 404 to every page of Streamlit's below its path.
    """
    prefix = f"/{base_path()}" if base_path() else ""
    return [_at(f"{prefix}{route.path}", route) for route in routes]


def _at(path: str, route: Route | WebSocketRoute) -> BaseRoute:
    if isinstance(route, WebSocketRoute):
        return WebSocketRoute(path, route.endpoint)
    return Route(path, route.endpoint, methods=sorted(route.methods or ()))


def base_path() -> str:
    return str(st.get_option("server.baseUrlPath") or "").strip("/")

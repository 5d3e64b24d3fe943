"""Where the app answers: its URL for other programs, its routes under Streamlit's base path."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from starlette.routing import BaseRoute, Mount


def app_url() -> str:
    """The app's URL from Streamlit's configuration."""
    address = st.get_option("server.address") or "127.0.0.1"
    root = f"http://{address}:{st.get_option('server.port')}"
    return f"{root}/{_base_path()}" if _base_path() else root


def under_base_path(routes: Sequence[BaseRoute]) -> list[BaseRoute]:
    """The app's own routes where the pages look for them; Streamlit moves only its own."""
    return [Mount(f"/{_base_path()}", routes=list(routes))] if _base_path() else list(routes)


def _base_path() -> str:
    return str(st.get_option("server.baseUrlPath") or "").strip("/")

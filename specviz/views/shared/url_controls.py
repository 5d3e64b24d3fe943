"""Controls whose values are in the page's URL: a link shows the same page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st


def bound(key: str) -> dict[str, Any]:
    """A widget that is in the URL, under its key, while it is not at its default."""
    return {"key": key, "bind": "query-params"}


def keep_among(key: str, options: Sequence[object]) -> None:
    """Forget a choice that is no longer offered: of another benchmark, another source."""
    if st.session_state.get(key) not in (None, *options):
        del st.session_state[key]

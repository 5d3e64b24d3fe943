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


def kept(key: str) -> dict[str, Any]:
    """A widget that is kept while other pages are looked at."""
    return {"key": key, "persist_state": "session"}


def begin_with(key: str, options: Sequence[str], first: str) -> None:
    """Begin with the link's value, else with `first`, which depends on the store.

    For the controls whose value `write` puts into the URL, at the default, too.
    """
    if key not in st.session_state:
        linked = st.query_params.get(key)
        st.session_state[key] = linked if linked in options else first
    elif st.session_state[key] not in options:  # of another store's link, or deleted
        st.session_state[key] = first


def write(key: str, value: str | None) -> None:
    """Write a value into the URL, or remove it."""
    if value is None:
        st.query_params.pop(key, None)
    elif st.query_params.get(key) != value:
        st.query_params[key] = value


def clear_address(*names: str) -> None:
    """Remove these parameters from the URL, without names all of them.

    Also those of widgets, for which `clear` and `pop` raise, and those that are the browser's only:
    a link to the page that is open leaves them there.
    """
    address = st.query_params
    address.from_dict(
        {name: address.get_all(name) for name in address if names and name not in names}
    )

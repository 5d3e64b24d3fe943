"""Who has the page open: the app's own user, or somebody who was let in with the token."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from specviz.config import RunConfig
from specviz.errors import UsageError
from specviz.remote.token import CALLER_HEADER, TOKEN_CALLER


def check_may_open(arms: Iterable[RunConfig]) -> None:
    """Raise UsageError for arms that start a server, on a page opened with the token."""
    if any(arm.starts_server for arm in arms):
        check_may_start()


def check_may_start() -> None:
    """Raise UsageError for starting a process from a page that was opened with the token."""
    if st.context.headers.get(CALLER_HEADER) == TOKEN_CALLER:
        raise UsageError(
            "This starts a server on the app's machine, and the token is not enough for that: "
            "start it there, as the app's user, or use arms in the app or at a URL."
        )

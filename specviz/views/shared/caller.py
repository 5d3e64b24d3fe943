"""Who has the page open: the app's own user, or somebody who was let in with the token."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from specviz.config import EngineKind, RunConfig
from specviz.errors import UsageError
from specviz.remote.token import CALLER_HEADER, TOKEN_CALLER


def is_own_user() -> bool:
    """Whether the page is open to the app's own user."""
    return st.context.headers.get(CALLER_HEADER) != TOKEN_CALLER


def check_may_open(arms: Iterable[RunConfig]) -> None:
    """Raise UsageError for arms that start a server or load models from the app's machine, on a
    page opened with the token."""
    for arm in arms:
        if arm.starts_server:
            check_may_start()
        if arm.engine is EngineKind.EMBEDDED and (arm.model or arm.draft):
            _check_is_own(
                "This loads models from folders of the app's machine, and the token is not enough "
                "for that: open the page there, as the app's user, or leave the models as they are."
            )


def check_may_start() -> None:
    """Raise UsageError for starting a process from a page that was opened with the token."""
    _check_is_own(
        "This starts a server on the app's machine, and the token is not enough for that: "
        "start it there, as the app's user, or use arms in the app or at a URL."
    )


def _check_is_own(refusal: str) -> None:
    if not is_own_user():
        raise UsageError(refusal)

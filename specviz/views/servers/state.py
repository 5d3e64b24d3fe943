"""The Servers page's session state: which dialog is to be opened, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import streamlit as st

_DIALOG = "servers_dialog"
_PROBLEM = "servers_problem"


class Opened(StrEnum):
    """The page's dialogs."""

    ADD = "add"
    EDIT = "edit"
    FACTS = "facts"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A dialog, the server that it is about, and its URL or the file of its log."""

    dialog: Opened
    name: str = ""
    place: str = ""


def ask_for(dialog: Opened, name: str = "", place: str = "") -> None:
    """Open a dialog in the next run of the page (a callback)."""
    st.session_state[_DIALOG] = Wanted(dialog, name, place)


def take_wanted() -> Wanted | None:
    """The dialog to open now; asking again gives None, because a dialog stays open by itself."""
    wanted: Wanted | None = st.session_state.pop(_DIALOG, None)
    return wanted


def keep_problem(sentence: str) -> None:
    """What an action on a server failed for, until the next one."""
    st.session_state[_PROBLEM] = sentence


def take_problem() -> str | None:
    problem: str | None = st.session_state.pop(_PROBLEM, None)
    return problem

"""The Compare page's state, all in the URL: arms, prompt, section.

`arms` are ids of runs (of a benchmark's arm the run of its cell) or of results from elsewhere; the
first one is the reference. `prompt` begins a prompt's key.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

ARMS = "arms"
PROMPT = "prompt"
SECTION = "compare_section"
PICKED = "compare_picked"
REFERENCE = "compare_reference"
CHOSEN_PROMPT = "compare_prompt"
MOST_ARMS = 6
KEY_CHARS = 12
"""Of a prompt's key in the URL."""

_FOLLOWED = "_compare_followed"


def asked() -> list[str]:
    """The ids in the URL, each once."""
    linked = st.query_params.get(ARMS, "")
    return list(dict.fromkeys(one for part in linked.split(",") if (one := part.strip())))


def follow(found: Sequence[str]) -> None:
    """Fill the picker from the URL whenever the URL has changed."""
    linked = st.query_params.get(ARMS, "")
    if st.session_state.get(_FOLLOWED) != linked or PICKED not in st.session_state:
        st.session_state[_FOLLOWED] = linked
        st.session_state[PICKED] = list(found)
        st.session_state[REFERENCE] = found[0] if found else None


def write_picked() -> None:
    """Write the picked arms into the URL (a callback)."""
    _tell(st.session_state[PICKED])


def write_reference() -> None:
    """Put the chosen reference first (a callback)."""
    picked: list[str] = st.session_state[PICKED]
    reference = st.session_state[REFERENCE]
    _tell([reference, *(one for one in picked if one != reference)])


def begin_prompt(keys: Sequence[str]) -> None:
    """Open with the prompt that the URL names, else with the first one."""
    if st.session_state.get(CHOSEN_PROMPT) not in keys:
        linked = st.query_params.get(PROMPT, "")
        named = [key for key in keys if linked and key.startswith(linked)]
        st.session_state[CHOSEN_PROMPT] = (named or keys)[0]


def write_prompt() -> None:
    """The URL holds the chosen prompt (a callback)."""
    st.query_params[PROMPT] = st.session_state[CHOSEN_PROMPT][:KEY_CHARS]


def _tell(ids: Sequence[str]) -> None:
    st.session_state.pop(_FOLLOWED, None)
    if ids:
        st.query_params[ARMS] = ",".join(ids)
    else:
        st.query_params.pop(ARMS, None)

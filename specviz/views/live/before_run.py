"""The Live page before a run: what Run does, and any servers it needs."""

from __future__ import annotations

import streamlit as st

from specviz.runtime import current
from specviz.servers.launch.pool import ServerPhase
from specviz.views.live.state import LiveChoice
from specviz.views.servers.started import slot_line, start_servers
from specviz.views.shared.arm_choice import STARTED, Place

_EMBEDDED = (
    "The arms run **in the app**, on this machine: no server, no GPU. Under *Arms* are the other "
    "methods, vLLM and llama.cpp, started here, and servers of yours."
)
_VLLM = (
    "Arms on **vLLM** need its server loaded first, once, with some 1.5 GiB of memory each. Arms "
    "in the app need no server."
)
_LLAMA_CPP = (
    "Arms on **llama.cpp** start its server in a second or two. It counts accepted and rejected "
    "tokens exactly and does not name the rejected ones."
)
_URL = "Arms at a URL are answered by that server."


def before_the_run(choice: LiveChoice) -> None:
    """What there is to see, in the place where the strips will be."""
    with st.container(border=True, height=430, vertical_alignment="center"):
        st.markdown("#### Watch a model draft, accept and reject")
        st.markdown(
            "**Run** sends the prompt to every arm and shows each drafted token as it is judged."
        )
        places = {arm.place for arm in choice.arms if arm.is_on}
        if not places:
            st.markdown("No arm is switched on: choose one under *Arms*.")
        if places == {Place.EMBEDDED}:
            st.markdown(_EMBEDDED)
        if Place.URL in places:
            st.markdown(_URL)
        if Place.LLAMA_CPP in places:
            st.markdown(_LLAMA_CPP)
        if Place.VLLM in places:
            st.markdown(_VLLM)
        if places & STARTED.keys():
            _started_servers(choice)


@st.fragment(run_every=1.0)
def _started_servers(choice: LiveChoice) -> None:
    """The servers of this machine, and a button to load the missing ones beforehand."""
    slots = [slot for slot in current().servers.slots() if slot.phase is not ServerPhase.STOPPED]
    if not slots:
        st.button(
            "Start the servers",
            icon=":material/power_settings_new:",
            on_click=_start_wanted,
            args=(choice,),
            help="Load the servers now, so that Run answers at once.",
        )
    for slot in slots:
        slot_line(slot)


def _start_wanted(choice: LiveChoice) -> None:
    arms = (arm for arm in choice.arms if arm.is_started)
    start_servers(current().servers, [arm.config(choice.sampling, choice.model) for arm in arms])

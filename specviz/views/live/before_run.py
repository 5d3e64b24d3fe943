"""The Live page before a run: what Run does, and any servers it needs."""

from __future__ import annotations

import streamlit as st

from specviz.runtime import current
from specviz.servers.launch.pool import ServerPhase
from specviz.views.live.state import LiveChoice
from specviz.views.servers.started import slot_line, start_demo
from specviz.views.shared.arm_choice import DEMO_SERVERS, Place

_EMBEDDED = (
    "The arms run **in the app**, with the demo models on this machine: no server, no GPU. These "
    "small models answer the six kinds of prompts above and write nonsense about anything else. "
    "Under *Arms* are the other methods, and vLLM: a demo server on this machine or one of yours."
)
_DEMO = (
    "Arms on a **vLLM demo server** need it loaded first: 15 to 40 seconds and 1.2 GiB of memory "
    "each, once. Arms in the app need no server."
)
_LLAMA_CPP = (
    "Arms on a **llama.cpp demo server** start it in a second or two. It counts accepted and "
    "rejected tokens exactly and does not name the rejected ones."
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
        if Place.DEMO in places:
            st.markdown(_DEMO)
        if places & DEMO_SERVERS.keys():
            _demo_servers(choice)


@st.fragment(run_every=1.0)
def _demo_servers(choice: LiveChoice) -> None:
    """The servers of this machine, and a button to load the missing ones beforehand."""
    slots = [slot for slot in current().servers.slots() if slot.phase is not ServerPhase.STOPPED]
    if not slots:
        st.button(
            "Start the demo servers",
            icon=":material/power_settings_new:",
            on_click=_start_wanted,
            args=(choice,),
            help="Load the servers now, so that Run answers at once.",
        )
    for slot in slots:
        slot_line(slot)


def _start_wanted(choice: LiveChoice) -> None:
    for arm in choice.arms:
        if arm.needs_demo_server:
            k = arm.k if arm.drafts else None
            start_demo(current().servers, arm.method, k, arm.engine)

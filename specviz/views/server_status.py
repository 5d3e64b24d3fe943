"""What runs on this machine, and the button that starts what the demo needs."""

from __future__ import annotations

import threading

import streamlit as st

from specviz.config import Method
from specviz.engines.vllm.arms import demo_spec
from specviz.engines.vllm.commands import ServerSpec
from specviz.engines.vllm.pool import ServerPhase, ServerPool, Slot
from specviz.errors import SpecvizError
from specviz.runtime import current
from specviz.views.live_state import LiveChoice

_ICONS = {
    ServerPhase.STARTING: ":material/hourglass_top:",
    ServerPhase.READY: ":material/check_circle:",
    ServerPhase.FAILED: ":material/error:",
    ServerPhase.STOPPED: ":material/stop_circle:",
}


def spec_title(spec: ServerSpec) -> str:
    """Short name of a server: `draft_model · K 5`."""
    return f"{spec.method.value} · K {spec.k}" if spec.k else spec.method.value


@st.fragment(run_every=1.0)
def demo_servers(choice: LiveChoice) -> None:
    """The empty Live page: what Run will do, and a button to load the servers beforehand."""
    pool = current().servers
    slots = [slot for slot in pool.slots() if slot.phase is not ServerPhase.STOPPED]
    with st.container(border=True, height=430, vertical_alignment="center"):
        st.markdown("#### Watch a real vLLM server draft, accept and reject")
        st.markdown(
            "**Run** sends the prompt to every arm and shows each drafted token as it is judged. "
            "The arms use the demo models on this machine unless you paste a server's URL under "
            "*Arms*. Loading a demo server takes 15 to 40 seconds and 1.2 GiB of memory, once."
        )
        if not slots:
            st.button(
                "Start the demo pair",
                icon=":material/power_settings_new:",
                on_click=_start_wanted,
                args=(choice,),
                help="Load the servers now, so that Run answers at once.",
            )
        for slot in slots:
            slot_line(slot)


def slot_line(slot: Slot) -> None:
    """One server and where it stands."""
    place = f" at {slot.server.url}" if slot.server else ""
    note = f" · {slot.note}" if slot.note and slot.phase is not ServerPhase.READY else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(_ICONS[slot.phase])
        st.text(f"{spec_title(slot.spec)}: {slot.phase.value}{place}{note}")


def _start_wanted(choice: LiveChoice) -> None:
    pool = current().servers
    for method, k, url in choice.arms:
        if url or method in ("off", "as the server says"):
            continue
        start_in_background(pool, method, k)


def start_in_background(pool: ServerPool, method: str, k: int) -> None:
    """Start a demo server in a thread; its slot in the pool shows progress and failure."""
    spec = demo_spec(Method(method), k)

    def start() -> None:
        try:
            pool.ensure(spec, lambda _: None)
        except SpecvizError:
            return  # the slot says it

    threading.Thread(target=start, name=f"start-{spec_title(spec)}").start()

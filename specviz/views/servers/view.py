"""The Servers page: servers started here, and checking one by its URL."""

from __future__ import annotations

import asyncio

import streamlit as st

from specviz.errors import SpecvizError
from specviz.methods import Method
from specviz.servers.capabilities import Capabilities
from specviz.servers.client.probe import FoundServer, find_server
from specviz.servers.launch.pool import ServerPhase, ServerPool
from specviz.views.live import state as live_state
from specviz.views.live.at_url import reported_method
from specviz.views.servers.started import slot_line, start_in_background
from specviz.views.shared import pages
from specviz.views.shared.arm_choice import demo_methods
from specviz.views.shared.messages import show_error
from specviz.views.shared.text import escaped

LOG_LINES = 200
NOT_REPORTED = "not reported"
CHECKED = "servers_checked"


@st.fragment(run_every=2.0)
def started_servers(pool: ServerPool) -> None:
    """Every server this app started: phase, address, stop button, log."""
    slots = pool.slots()
    if not slots:
        st.markdown(
            "No server is running. Arms in the app need none; Live starts the demo servers that "
            "other arms need, or start one here."
        )
    for index, slot in enumerate(slots):
        with st.container(border=True):
            line, use, action = st.columns([5, 1.2, 1], vertical_alignment="center")
            with line:
                slot_line(slot)
            if slot.phase is ServerPhase.READY and slot.server:
                with use:
                    _use_in_live(slot.server.url, slot.spec.method.value, slot.spec.k, str(index))
                action.button(
                    "Stop",
                    key=f"stop-{index}",
                    width="stretch",
                    on_click=pool.stop,
                    args=(slot.spec,),
                )
            if slot.server and st.toggle("Show the log", key=f"log-{index}"):
                text = slot.server.log_path.read_text(encoding="utf-8", errors="replace")
                st.code("\n".join(text.splitlines()[-LOG_LINES:]), language=None, height=300)
    with (
        st.form("start-server", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        method = st.selectbox("Method", demo_methods(), 1, format_func=lambda m: m.value, width=180)
        k = st.number_input("K", 1, 32, 5, width=120)
        if st.form_submit_button("Start with the demo models", icon=":material/add:"):
            start_in_background(pool, Method(method).value, int(k))


def check_server() -> None:
    """Ask a server what it offers, and show how to get more."""
    with (
        st.form("check-server", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        url = st.text_input("URL", placeholder="http://127.0.0.1:8000", width=420)
        asked = st.form_submit_button("Check", icon=":material/search:")
    if asked:
        st.session_state.pop(CHECKED, None)
        try:
            with st.spinner("asking the server"):
                st.session_state[CHECKED] = asyncio.run(find_server(url))
        except SpecvizError as error:
            show_error(error)
    found = st.session_state.get(CHECKED)
    if not isinstance(found, FoundServer):
        return
    verifier = found.capabilities.verifier
    if verifier and verifier.is_lossless is False:
        st.badge(escaped(f"{verifier.name}: not lossless"), icon=":material/warning:", color="red")
    st.table({name: escaped(fact) for name, fact in _facts(found).items()})
    _use_in_live(found.url, reported_method(found), found.capabilities.k, "checked")
    if found.advice:
        st.info(escaped(found.advice), icon=":material/lightbulb:")


def _use_in_live(url: str, method: str, k: int | None, key: str) -> None:
    if st.button("Use in Live", key=f"use-{key}", width="content", icon=pages.LIVE.icon):
        live_state.use_server(url, method, k)
        pages.switch_to(pages.LIVE)


def _verifier(found: Capabilities) -> str:
    if found.speculates is False:
        return "none: every token is the target's"
    rule = found.verifier
    return f"{rule.name}, {rule.verdict}. {rule.note}" if rule else NOT_REPORTED


def _facts(server: FoundServer) -> dict[str, str]:
    found = server.capabilities
    return {
        "Model": server.model,
        "Software": server.software or server.dialect.name,
        "Context": f"{server.max_model_len:,} tokens" if server.max_model_len else NOT_REPORTED,
        "Speculates": {True: "yes", False: "no", None: NOT_REPORTED}[found.speculates],
        "Method": found.method.value if found.method else NOT_REPORTED,
        "K": str(found.k) if found.k else NOT_REPORTED,
        "Verifier": _verifier(found),
        "Tracing": "on" if found.tracing else f"off: {found.tracing_reason}",
        "Fidelity": found.expected_fidelity.value,
    }

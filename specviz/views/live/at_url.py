"""An arm at a URL: what the server there reports, and a server to compare it with."""

from __future__ import annotations

import asyncio

import streamlit as st

from specviz.errors import SpecvizError
from specviz.methods import Method
from specviz.runtime import current
from specviz.servers.client.probe import FoundServer, base_url, find_server
from specviz.store.runs.runs import read_baseline_servers
from specviz.views.live import state as live_state
from specviz.views.live.state import Answer, arm_key
from specviz.views.shared.arm_choice import ASK, ArmChoice, Place
from specviz.views.shared.text import escaped


def ask_server(index: int) -> None:
    """Ask the server whose URL was pasted, and set method and K as it reports (a callback)."""
    url = str(st.session_state[arm_key(index, "url")]).strip()
    if not url:
        live_state.forget_answer(index)
        return
    try:
        found = asyncio.run(find_server(url))
    except SpecvizError as error:
        live_state.keep_answer(index, Answer(url, error=str(error)))
        return
    live_state.keep_answer(index, Answer(url, found))
    live_state.set_method(index, reported_method(found), found.capabilities.k)


def reported_method(found: FoundServer) -> str:
    """The method as Live's control lists it; `ASK` where the server does not report it."""
    method, _ = found.capabilities.settled(None, None)
    return method.value if method else ASK


def show_answer(index: int, arm: ArmChoice) -> None:
    """One line on the server, or why there is none."""
    answer = live_state.answer(index)
    if answer is None or answer.url != arm.url.strip():
        return
    if answer.found is None:
        st.caption(f":red[{escaped(answer.error or '')}]")
        return
    found = answer.found
    drafts = reported_method(found) + (
        f", K {found.capabilities.k}" if found.capabilities.k else ""
    )
    seen = found.capabilities.expected_fidelity.value
    words = (found.software or found.dialect.name, found.model, drafts, seen)
    st.caption(escaped(" · ".join(words)))


def offer_baseline(index: int, arm: ArmChoice, arms: tuple[ArmChoice, ...]) -> None:
    """A server of the same model without speculation, if one is known: speed-up needs one."""
    answer = live_state.answer(index)
    found = answer.found if answer else None
    if found is None or found.capabilities.speculates is False or _has_baseline(arms):
        return
    known = current().store.read(read_baseline_servers, found.model)
    others = [url for url in known if url != base_url(arm.url)]
    if not others:
        st.caption(
            "For a speed-up add its baseline: a server of the same model without speculation."
        )
        return
    st.button(
        f"Add its baseline at {escaped(others[0])}",
        icon=":material/add:",
        key=f"live_baseline_{index}",
        on_click=live_state.use_server,
        args=(others[0], Method.BASELINE.value, None),
    )


def _has_baseline(arms: tuple[ArmChoice, ...]) -> bool:
    return any(arm.place is Place.URL and arm.method == Method.BASELINE for arm in arms)

"""What can be done with a server from its row."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import streamlit as st

from specviz.errors import SpecvizError
from specviz.fleet.health import Health
from specviz.fleet.named import remove_named
from specviz.known_facts import facts_of_server
from specviz.methods import Method
from specviz.runtime import Runtime
from specviz.servers.launch.pool import ServerPhase
from specviz.views.benchmark import state as bench_state
from specviz.views.live import state as live_state
from specviz.views.servers import state
from specviz.views.servers.rows import Row
from specviz.views.servers.state import Opened
from specviz.views.shared import pages
from specviz.views.shared.arm_choice import ASK
from specviz.views.shared.text import escaped
from specviz.views.technique import state as technique_state

WIDTH_PX = 150
"""`fleet.css` leaves as much room beside the heads."""


def show_actions(runtime: Runtime, row: Row, health: Health | None) -> None:
    """Two buttons and a menu. Whatever fails is a sentence above the table."""
    with st.container(horizontal=True, gap="xsmall", horizontal_alignment="right", width=WIDTH_PX):
        if health is not None and health.is_up and row.url is not None:
            if _button("Live", row, f"Use {row.name} in Live"):
                _use_in_live(row, health)
            if _button("Bench", row, f"Use {row.name} in a benchmark"):
                _use_in_benchmark(row, health)
        elif row.url is not None and _button("Check", row, f"Ask {row.name} now"):
            _check(runtime, row)
        actions = _menu(runtime, row, health)
        chosen = st.menu_button(
            "More",
            [*actions],
            key=f"servers_more_{row.key}",
            type="tertiary",
            help=escaped(f"More for {row.name}"),
        )
    if chosen is not None:
        try:
            actions[chosen]()
        except SpecvizError as error:
            state.keep_problem(str(error))
        st.rerun()


def _menu(runtime: Runtime, row: Row, health: Health | None) -> dict[str, Callable[[], None]]:
    is_up = health is not None and health.is_up
    actions: dict[str, Callable[[], None]] = {}
    if row.url is not None:
        if is_up:
            actions["Use in Technique"] = lambda: _use_in_technique(row)
            actions["Check now"] = lambda: _check(runtime, row)
        actions["What it reports"] = lambda: state.ask_for(Opened.FACTS, row.name, row.url or "")
    if row.named is not None:
        actions["Edit"] = lambda: state.ask_for(Opened.EDIT, row.name)
        actions["Remove"] = lambda: _remove(runtime, row)
    elif row.url is not None:
        actions["Give it a name"] = lambda: state.ask_for(Opened.ADD, place=row.url or "")
    if row.slot is not None:
        log, spec = row.slot.log, row.slot.spec
        if log is not None or row.slot.phase is ServerPhase.STARTING:
            actions["Log"] = lambda: state.ask_for(Opened.LOG, row.name, str(log or ""))
        if row.slot.phase in (ServerPhase.STARTING, ServerPhase.READY):
            actions["Stop"] = lambda: runtime.servers.stop(spec)
        elif row.slot.phase is ServerPhase.FAILED:
            actions["Take off the list"] = lambda: runtime.servers.forget(spec)
    return actions


def _button(label: str, row: Row, hint: str) -> bool:
    key = f"servers_{label}_{row.key}"
    return st.button(label, key=key, type="tertiary", help=escaped(hint))


def _method_and_k(row: Row, health: Health) -> tuple[str, int | None]:
    method, k = row.asked_for
    if health.found is not None:
        method, k = health.found.capabilities.settled(method, k)
    return (method.value if method else ASK), k if method is not Method.BASELINE else None


def _use_in_live(row: Row, health: Health) -> None:
    live_state.use_server(row.url or "", *_method_and_k(row, health))
    pages.switch_to(pages.LIVE)


def _use_in_benchmark(row: Row, health: Health) -> None:
    method, k = _method_and_k(row, health)
    bench_state.use_server(row.named.name if row.named else None, row.url or "", method, k)
    pages.switch_to(pages.BENCHMARK)


def _use_in_technique(row: Row) -> None:
    url = row.url or ""
    with st.spinner("asking the server"):
        facts, _ = asyncio.run(facts_of_server(url))
    technique_state.keep_server(url, facts)
    pages.switch_to(pages.TECHNIQUE, {technique_state.SERVER: url})


def _check(runtime: Runtime, row: Row) -> None:
    with st.spinner("asking the server"):
        runtime.fleet.check([row.url or ""])


def _remove(runtime: Runtime, row: Row) -> None:
    remove_named(runtime.store, row.name)
    st.toast(escaped(f"Removed {row.name}. The server goes on running, and its runs stay."))

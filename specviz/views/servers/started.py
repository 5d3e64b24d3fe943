"""Servers that specviz started: one line each, and starting one in the background."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import streamlit as st

from specviz.config import RunConfig
from specviz.errors import SpecvizError, UsageError
from specviz.servers.kinds import server_spec
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.pool import ServerPhase, ServerPool, Slot
from specviz.views.servers.rows import spec_title
from specviz.views.shared.caller import check_may_start
from specviz.views.shared.messages import show_error

_ICONS = {
    ServerPhase.STARTING: ":material/hourglass_top:",
    ServerPhase.READY: ":material/check_circle:",
    ServerPhase.FAILED: ":material/error:",
    ServerPhase.STOPPED: ":material/stop_circle:",
}


def slot_line(slot: Slot) -> None:
    """One server: icon, method, phase and address."""
    place = f" at {slot.server.url}" if slot.server else ""
    note = f" · {slot.note}" if slot.note and slot.phase is not ServerPhase.READY else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(_ICONS[slot.phase])
        st.text(f"{spec_title(slot.spec)}: {slot.phase.value}{place}{note}")


def start_servers(pool: ServerPool, arms: Iterable[RunConfig]) -> None:
    """Start what arms will ask, or say why that cannot be done from here."""
    try:
        check_may_start()
        specs = [server_spec(arm, trace=True) for arm in arms]
    except UsageError as error:
        show_error(error)
        return
    for spec in specs:
        start_in_background(pool, spec)


def start_in_background(pool: ServerPool, spec: ServerSpec) -> None:
    """Start a server in a thread; its slot in the pool shows progress and failure."""

    def start() -> None:
        try:
            pool.ensure(spec, lambda _: None)
        except SpecvizError:
            return  # the slot shows it

    threading.Thread(target=start, name=f"start-{spec_title(spec)}").start()

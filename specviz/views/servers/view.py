"""The Servers page: every server, named or started here, in one table."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from specviz.fleet.named import named_servers
from specviz.runtime import Runtime
from specviz.views.servers import state
from specviz.views.servers.about import show_facts, show_log
from specviz.views.servers.actions import show_actions
from specviz.views.servers.cells import cells_of, state_of
from specviz.views.servers.edit import add_server, edit_server
from specviz.views.servers.rows import rows_of
from specviz.views.servers.state import Opened
from specviz.views.servers.table import show_cells, show_heads, show_style
from specviz.views.shared.messages import show_error

EVERY_S = 3.0


def show_fleet(runtime: Runtime) -> None:
    """The table, kept up to date by itself, and the dialog that was asked for."""
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button("Add a URL", icon=":material/add:", on_click=state.ask_for, args=(Opened.ADD,))
    show_style()
    _table(runtime)
    _dialog(runtime)


@st.fragment(run_every=EVERY_S)
def _table(runtime: Runtime) -> None:
    if problem := state.take_problem():
        show_error(problem)
    rows = rows_of(named_servers(runtime.store), runtime.servers.slots())
    if not rows:
        _nothing_yet()
        return
    health = runtime.fleet.look(row.url for row in rows if row.url is not None)
    with st.container(border=True, gap=None, key="fleet"):
        show_heads()
        for place, row in enumerate(rows):
            found = health.get(row.url) if row.url else None
            with st.container(
                horizontal=True, vertical_alignment="center", key=f"fleet_row_{place}"
            ):
                show_cells(cells_of(row, found), state_of(row, found, _zone()))
                show_actions(runtime, row, found)


def _nothing_yet() -> None:
    with st.container(border=True, key="fleet_empty"):
        st.markdown(
            "**No server yet.** Arms in the app need none. Add the URL of one that runs somewhere "
            "(vLLM, or any OpenAI-compatible server), or start one below: "
            "then every row shows what it drafts with, how much of it can be seen, and what it "
            "accepts now. At a shell: `specviz servers add NAME URL`."
        )


def _dialog(runtime: Runtime) -> None:
    wanted = state.take_wanted()
    if wanted is None:
        return
    servers = named_servers(runtime.store)
    named = next((server for server in servers if server.name == wanted.name), None)
    if wanted.dialog is Opened.ADD:
        add_server(runtime.store, servers, wanted.place)
    elif wanted.dialog is Opened.EDIT and named is not None:
        edit_server(runtime.store, servers, named)
    elif wanted.dialog is Opened.FACTS:
        show_facts(wanted.name, runtime.fleet.known([wanted.place]).get(wanted.place))
    elif wanted.dialog is Opened.LOG:
        show_log(Path(wanted.place) if wanted.place else None)


def _zone() -> ZoneInfo | None:
    """The reader's; the app's where the browser does not say."""
    try:
        return ZoneInfo(st.context.timezone) if st.context.timezone else None
    except (ZoneInfoNotFoundError, ValueError):
        return None

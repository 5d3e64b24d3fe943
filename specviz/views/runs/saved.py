"""Views of the Runs list that people saved: opened with a click, named, renamed, deleted."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from specviz.errors import SpecvizError
from specviz.store import Store
from specviz.store.history.saved_views import put_view, settings_of
from specviz.store.saved import NAME_CHARACTERS, VIEWS, Saved, read_saved
from specviz.views.runs import state
from specviz.views.shared.messages import show_error
from specviz.views.shared.saved import rename_and_delete
from specviz.views.shared.text import escaped


def saved_views(store: Store) -> None:
    """A button for each view; nothing before one is saved."""
    saved = store.read(read_saved, VIEWS)
    if not saved:
        return
    now = state.settings()
    with st.container(horizontal=True, gap="small", key="runs_views"):
        for one in saved:
            settings = settings_of(one)
            st.button(
                escaped(one.name),
                key=f"runs_view_{one.name}",
                icon=":material/bookmark:",
                type="secondary" if settings == now else "tertiary",
                on_click=state.apply_settings,
                args=(settings,),
            )


def views_button(store: Store) -> None:
    """Save what the list shows now; rename and delete what is saved."""
    with st.popover("Views", icon=":material/bookmark:", key="runs_views_edit"):
        _save(store)
        for one in store.read(read_saved, VIEWS):
            _change(store, one)


def _save(store: Store) -> None:
    with st.form("runs_view_save", border=False, clear_on_submit=True):
        name = st.text_input("Save filters, lines, order and columns as", max_chars=NAME_CHARACTERS)
        if not st.form_submit_button("Save this view", icon=":material/bookmark_add:"):
            return
    try:
        store.write(put_view, name, state.settings(), datetime.now(UTC))
    except SpecvizError as error:
        show_error(error)
    else:
        st.rerun()


def _change(store: Store, saved: Saved) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"runs_vw_{saved.name}"):
        name = st.text_input("Name of the view", saved.name, key=f"runs_view_name_{saved.name}")
        rename_and_delete(store, VIEWS, saved, name, "runs_view")

"""What people saved under a name, renamed and deleted: queries, views of the Runs list."""

from __future__ import annotations

import streamlit as st

from specviz.errors import SpecvizError
from specviz.store import Store
from specviz.store.saved import Saved, Shelf, delete_saved, rename_saved
from specviz.views.shared.messages import show_error


def rename_and_delete(store: Store, shelf: Shelf, saved: Saved, name: str, key: str) -> None:
    """The two buttons; `name` is the one to be given, `key` begins the keys of both."""
    if st.button("Rename", key=f"{key}_rename_{saved.name}"):
        try:
            store.write(rename_saved, shelf, saved.name, name)
        except SpecvizError as error:
            show_error(error)
        else:
            st.rerun()
    if st.button("Delete", key=f"{key}_delete_{saved.name}", icon=":material/delete:"):
        store.write(delete_saved, shelf, saved.name)
        st.rerun()

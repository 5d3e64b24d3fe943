"""Runs: the stored ones, and one of them opened: replay, figures, configuration."""

import streamlit as st

from specviz.errors import StoreError
from specviz.runtime import current
from specviz.views.run_view import list_runs, show_runs

store = current().store
run_id, group_id = st.query_params.get("run"), st.query_params.get("group")
try:
    if run_id:
        show_runs(store, [store.run(run_id)], source=f"/ws/runs/{run_id}")
    elif group_id:
        show_runs(store, store.group(group_id), source=f"/ws/groups/{group_id}")
    else:
        list_runs(store)
except StoreError as error:
    st.error(str(error), icon=":material/error:")
    st.page_link("pages/run.py", label="All runs", icon=":material/arrow_back:")

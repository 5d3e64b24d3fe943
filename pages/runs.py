"""Runs: the stored ones, and one of them opened: replay, figures, configuration."""

import streamlit as st

from specviz.errors import StoreError
from specviz.store.runs.runs import read_group, read_run
from specviz.views.runs import state
from specviz.views.runs.elsewhere import show_elsewhere
from specviz.views.runs.list import show_list
from specviz.views.runs.view import show_runs
from specviz.views.shared import pages
from specviz.views.shared.messages import show_error
from specviz.views.shared.sample import store_of_runs

run_id, group_id = st.query_params.get(state.RUN), st.query_params.get(state.GROUP)
elsewhere_id = st.query_params.get(state.ELSEWHERE)
try:
    store = store_of_runs([one for one in (run_id, group_id, elsewhere_id) if one])
    if run_id:
        show_runs(store, [store.read(read_run, run_id)], source=f"/ws/runs/{run_id}")
    elif group_id:
        show_runs(store, store.read(read_group, group_id), source=f"/ws/groups/{group_id}")
    elif elsewhere_id:
        show_elsewhere(store, elsewhere_id)
    else:
        show_list(store)
except StoreError as error:
    show_error(error)
    pages.link_back(pages.RUNS, "All runs")

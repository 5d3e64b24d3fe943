"""Query: questions to all stored runs, with SQL or without."""

import streamlit as st

from specviz.errors import StoreError
from specviz.runtime import current
from specviz.views.query import state as query_state
from specviz.views.query.lists import show_lists
from specviz.views.query.view import show_query
from specviz.views.shared.messages import show_error
from specviz.views.shared.sample import store_of_runs

own = current().store  # where queries are saved, whatever they ask
label = st.container()
lists, query = st.columns([3, 8], gap="medium")
try:
    with label:
        store = store_of_runs()
    with lists:
        show_lists(store, own)
    with query:
        show_query(store, own, query_state.asked())
except StoreError as error:
    show_error(error)

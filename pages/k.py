"""K: what the number of draft tokens does, measured, predicted, by formula and published."""

import streamlit as st

from specviz.errors import StoreError
from specviz.views.k import state
from specviz.views.k.controls import ask
from specviz.views.k.view import show_k
from specviz.views.shared.messages import show_error
from specviz.views.shared.sample import store_of_benchmarks

label = st.container()
controls, results = st.columns([1, 3.4], gap="medium")
try:
    with label:
        store = store_of_benchmarks(st.query_params.get(state.BENCHMARK))
    with controls:
        asked = ask(store)
    with results:
        show_k(asked)
except StoreError as error:
    show_error(error)

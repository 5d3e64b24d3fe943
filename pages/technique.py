"""Technique: whether to speculate, how and with which draft; rules of thumb, and what wins over."""

import streamlit as st

from specviz.errors import StoreError
from specviz.views.shared.messages import show_error
from specviz.views.shared.sample import store_of_benchmarks
from specviz.views.technique import state
from specviz.views.technique.view import show_technique

try:
    show_technique(store_of_benchmarks(st.query_params.get(state.BENCHMARK)))
except StoreError as error:
    show_error(error)

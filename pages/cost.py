"""Cost: what speculation saves, when training has paid for itself, where it begins to cost."""

import streamlit as st

from specviz.errors import SpecvizError
from specviz.views.cost import state
from specviz.views.cost.case import Unpriced
from specviz.views.cost.controls import choose_case
from specviz.views.cost.view import show_case, show_unpriced
from specviz.views.shared.disagreements import show_disagreements
from specviz.views.shared.sample import store_of_benchmarks
from specviz.views.shared.text import escaped

label = st.container()
controls, results = st.columns([1, 3.4], gap="medium")
try:
    with label:
        store = store_of_benchmarks(st.query_params.get(state.BENCHMARK))
    with controls:
        case = choose_case(store)
    with results:
        if isinstance(case, Unpriced):
            show_unpriced(case)
        else:
            show_case(case)
except SpecvizError as error:
    results.warning(escaped(str(error)), icon=":material/info:")
with results:
    show_disagreements("cost")

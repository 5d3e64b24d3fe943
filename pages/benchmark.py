"""Benchmark: a plan is made, started and followed; then its figures, tables and plots."""

import streamlit as st

from specviz.errors import StoreError
from specviz.views.benchmark import state as bench_state
from specviz.views.benchmark.plan import choose_plan, start_button
from specviz.views.benchmark.view import past_benchmarks, show_benchmark
from specviz.views.shared import pages
from specviz.views.shared.messages import show_error
from specviz.views.shared.sample import store_of_benchmarks

benchmark_id = bench_state.opened()
try:
    if benchmark_id:
        show_benchmark(store_of_benchmarks(benchmark_id), benchmark_id)
    else:
        bench_state.show_list()
        st.subheader("New benchmark")
        start_button(choose_plan())
        past_benchmarks(store_of_benchmarks())
except StoreError as error:
    show_error(error)
    pages.link_back(pages.BENCHMARK, "All benchmarks")

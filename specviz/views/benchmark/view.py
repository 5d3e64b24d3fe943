"""Benchmarks on the page: the past ones, and one opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from specviz.bench.plan.toml import parse_plan
from specviz.config import RunStatus
from specviz.errors import UsageError
from specviz.runtime import current
from specviz.store import Store
from specviz.store.benchmarks.reads import read_benchmark, read_benchmarks
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.store.history.line import Item, Kind
from specviz.views.benchmark import (
    checks as bench_checks,
)
from specviz.views.benchmark import (
    sections as bench_sections,
)
from specviz.views.benchmark import (
    state as bench_state,
)
from specviz.views.benchmark.phases import phases
from specviz.views.benchmark.progress import live_progress
from specviz.views.benchmark.tables import results_json
from specviz.views.runs.edit import deleted_banner
from specviz.views.shared import pages
from specviz.views.shared.benchmark.results import Opened, open_results, show_disturbance
from specviz.views.shared.caller import check_may_open
from specviz.views.shared.exchange import export_control
from specviz.views.shared.messages import show_error
from specviz.views.shared.sample import offer_sample
from specviz.views.shared.sections import chosen_section
from specviz.views.shared.text import escaped, status_name

SHOWN = 50
SECTIONS: dict[str, Callable[[Opened], None]] = {
    "Overall": bench_sections.overall,
    "Where the time goes": bench_sections.step_time,
    "Categories": bench_sections.categories,
    "Temperature": bench_sections.temperature,
    "Concurrency": bench_sections.concurrency,
    "Phases": phases,
    "K": bench_sections.k,
    "Cost basis": bench_checks.cost_basis,
    "Checks": bench_checks.checks,
    "Plan": bench_checks.plan,
}


def past_benchmarks(store: Store) -> None:
    """The newest benchmarks; selecting one opens it."""
    st.subheader("Past benchmarks")
    rows = store.read(read_benchmarks, limit=SHOWN)
    if not rows:
        st.markdown(
            "None yet. **Start** runs the plan above: the first one takes about two minutes. "
            "`specviz bench PLAN.toml` does the same in a terminal."
        )
        offer_sample()
        return
    st.caption("The newest first. Select one to open it.")
    ids = [row.benchmark_id for row in rows]
    st.dataframe(
        past_table(rows),
        hide_index=True,
        on_select=partial(bench_state.open_selected, ids),
        selection_mode="single-row",
        key=bench_state.list_key(),
        height="content",
        placeholder="–",
        column_config={
            "started": st.column_config.DatetimeColumn("started, UTC", format="D MMM, HH:mm:ss"),
            "name": st.column_config.TextColumn(width="medium"),
            "hardware": st.column_config.TextColumn(width="large"),
        },
    )


def past_table(rows: Sequence[BenchmarkRow]) -> pd.DataFrame:
    """One line per benchmark."""
    return pd.DataFrame(
        {
            "started": [row.started_at for row in rows],
            "name": [row.name for row in rows],
            "status": [status_name(row.status) for row in rows],
            "requests": [f"{row.finished:,} of {row.planned:,}" for row in rows],
            "hardware": [row.hardware for row in rows],
        }
    )


def show_benchmark(store: Store, benchmark_id: str) -> None:
    """One benchmark: its progress, and its figures so far. Raises StoreError."""
    row = store.read(read_benchmark, benchmark_id)
    progress = current().benchmarks.progress(benchmark_id)
    runs = progress is not None and not progress.phase.is_final
    if row.deleted_at:
        deleted_banner(store, [Item(Kind.BENCHMARK, benchmark_id)], row.deleted_at)
    _heading(store, row)
    if runs:
        live_progress(benchmark_id)
        if not st.toggle("Show the figures so far", key="bench_so_far"):
            return
    else:
        _how_it_ended(row)
    if row.finished == 0:
        st.info("No request was finished: there are no figures. The plan is below.")
        st.code(row.plan_toml, language="toml")
        return
    _sections(open_results(store, row))


def _heading(store: Store, row: BenchmarkRow) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(escaped(row.name), width="content")
        st.space("stretch")
        if st.button("Use its plan again", icon=":material/edit_note:", type="tertiary"):
            bench_state.load_plan(row.plan_toml)
            del st.query_params[bench_state.BENCHMARK]
            st.rerun()
        with st.popover("Export", icon=":material/output:", type="tertiary", key="bench_export_as"):
            export_control(
                store, [row.benchmark_id], key="bench_export", results_of=current().results.of
            )
        pages.link_back(pages.BENCHMARK, "All benchmarks")
    facts = [f"{row.started_at:%d %B %Y, %H:%M:%S} UTC", row.hardware or "hardware unknown"]
    if row.status is not RunStatus.RUNNING:
        facts[1:1] = [
            status_name(row.status),
            f"{row.finished:,} of {row.planned:,} requests",
        ]
    st.caption(escaped(" · ".join(facts)))


def _how_it_ended(row: BenchmarkRow) -> None:
    """Why it is incomplete, and a button to resume."""
    if row.status is RunStatus.FINISHED and row.finished >= row.planned:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        missing = row.planned - row.finished
        text = f"{status_name(row.status).capitalize()}: {missing:,} requests are missing."
        if row.status is RunStatus.RUNNING:
            text = "Not running in this app; another process may be running it."
        st.text(f"{text} {row.error or ''}".strip(), width="stretch")
        running = current().benchmarks.running()
        if row.status is RunStatus.FINISHED:
            return
        if st.button(
            "Resume",
            icon=":material/resume:",
            type="primary",
            disabled=running is not None,
            help="Measures what is missing and keeps the rest."
            if running is None
            else "Another benchmark is running: one at a time.",
        ):
            _resume(row)


def _resume(row: BenchmarkRow) -> None:
    try:
        check_may_open(arm.config for arm in parse_plan(row.plan_toml).arms)
        current().benchmarks.resume(row.benchmark_id)
    except UsageError as error:
        show_error(error)
    else:
        st.rerun()


def _sections(opened: Opened) -> None:
    """The chosen section, and all results as a file."""
    show_disturbance(opened.results.cells)
    changing = bool(opened.results.phases)
    names = [name for name in SECTIONS if changing or name != "Phases"]
    first = "Phases" if changing and not opened.results.cells else "Overall"
    with st.container(horizontal=True, vertical_alignment="center"):
        chosen = chosen_section(bench_state.SECTION, names, first)
        st.space("stretch")
        st.download_button(
            "All results as JSON",
            results_json(opened.row, opened.results),
            file_name=f"benchmark-{opened.row.benchmark_id}.json",
            mime="application/json",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )
    SECTIONS[chosen](opened)

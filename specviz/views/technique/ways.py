"""The two ways to begin: measure, or answer questions. And the benchmark that is read."""

from __future__ import annotations

import asyncio

import streamlit as st

from specviz.bench.plan.plan import Plan
from specviz.bench.plan.toml import parse_plan
from specviz.errors import SpecvizError
from specviz.known_facts import facts_of_server
from specviz.methods import Method
from specviz.paths import PLANS
from specviz.runtime import current
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.views.benchmark.form import plan_for
from specviz.views.shared import pages
from specviz.views.shared.benchmark.choice import Offered, title_of
from specviz.views.shared.benchmark.plan_text import ONE_AT_A_TIME
from specviz.views.shared.caller import check_may_open
from specviz.views.shared.messages import show_error
from specviz.views.shared.model_field import Kind, Model, kind_of, model_field
from specviz.views.shared.text import escaped
from specviz.views.technique import state

PLAN = PLANS / "technique.toml"


def show_ways(stored: Offered, chosen: BenchmarkRow | None) -> None:
    """Both, side by side."""
    measure, ask = st.columns(2, gap="medium")
    with measure, st.container(border=True, height="stretch"):
        _measure(stored, chosen)
    with ask, st.container(border=True, height="stretch"):
        st.markdown("##### Answer five questions")
        st.caption(
            "No server yet? The documents' decision tree, one question at a time. You can leave "
            "any of them open."
        )
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            st.button("Start", icon=":material/quiz:", on_click=state.begin_questions)
            _server()


def _measure(stored: Offered, chosen: BenchmarkRow | None) -> None:
    st.markdown("##### Measure in two minutes")
    model = model_field()
    plan = None if kind_of(model.text) is Kind.SERVER else _plan(model)
    st.caption(_what_is_measured(plan))
    running = current().benchmarks.running()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.button(
            "Measure",
            on_click=_start,
            args=(plan,),
            type="primary",
            icon=":material/play_arrow:",
            disabled=running is not None or plan is None or model.problem is not None,
            help=ONE_AT_A_TIME if running else None,
        )
        _choice(stored)
        pages.link(pages.BENCHMARK, "Your own plan")
    if stored.why and chosen is not None and chosen == stored.first:
        st.caption(escaped(stored.why))


def _choice(stored: Offered) -> None:
    """The benchmark that is read."""
    by_id = stored.by_id
    st.selectbox(
        "Use a benchmark",
        [*by_id],
        index=None,
        format_func=lambda one: title_of(by_id[one]),
        key=state.key_of(state.BENCHMARK),
        placeholder="use a benchmark" if by_id else "none stored yet",
        disabled=not by_id,
        label_visibility="collapsed",
        persist_state="session",
        width="stretch",
    )


def _plan(model: Model) -> Plan:
    return plan_for(parse_plan(PLAN.read_text(encoding="utf-8")), model.name, model.offer)


def _what_is_measured(plan: Plan | None) -> str:
    if plan is None:
        return (
            "A running server decodes in one way only: compare it with others in a plan on the "
            "Benchmark page."
        )
    methods = [arm.config.method for arm in plan.arms]
    others = ", ".join(one for one in methods if one not in (None, Method.BASELINE))
    return (
        f"Plain decoding next to {others} on this machine, one request at a time. Your "
        "own server: a plan on the Benchmark page."
    )


def _start(plan: Plan) -> None:
    """Start the plan and follow it here (a callback)."""
    try:
        check_may_open(arm.config for arm in plan.arms)
        state.open_benchmark(current().benchmarks.start(plan))
    except SpecvizError as error:
        state.keep_problem(str(error))


def _server() -> None:
    """A running server as a source of answers."""
    with st.popover("Read answers from a server", icon=":material/dns:"):
        url = st.text_input(
            "Read from a server",
            placeholder="http://127.0.0.1:8000",
            key=state.key_of(state.SERVER),
            persist_state="session",
        )
        if st.button("Read", icon=":material/download:", disabled=not url) and url:
            _read_server(url)


def _read_server(url: str) -> None:
    try:
        with st.spinner("asking the server"):
            facts, found = asyncio.run(facts_of_server(url))
    except SpecvizError as error:
        show_error(error)
        return
    state.keep_server(url, facts)
    st.toast(f"{escaped(found.model)}: read {len(facts.answers)} answers")
    st.rerun()

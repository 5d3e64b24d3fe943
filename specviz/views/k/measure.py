"""Starting a sweep from the K page: Ks, loads, size, Start."""

from __future__ import annotations

import streamlit as st

from specviz.bench.numbers import whole_numbers
from specviz.bench.plan.check import check_arms, servers_at_once
from specviz.bench.plan.plan import Plan
from specviz.bench.plan.toml import parse_plan
from specviz.config import RunConfig
from specviz.errors import UsageError
from specviz.prompts.sets import PromptSource
from specviz.prompts.shipped import CATEGORIES
from specviz.runtime import current
from specviz.sweep.plan import FIRST_METHOD, sweep_plan
from specviz.views.benchmark import state as bench_state
from specviz.views.k.chosen import Chosen
from specviz.views.shared import pages
from specviz.views.shared.benchmark.plan_text import ONE_AT_A_TIME, plan_summary
from specviz.views.shared.caller import check_may_open
from specviz.views.shared.messages import show_error
from specviz.views.shared.text import escaped

PROMPTS = 24


def measure_this(chosen: Chosen | None) -> None:
    """The method above, or EAGLE-3 of the default model, at the Ks and concurrencies entered."""
    config, baseline, prompts = _basis(chosen)
    ks_field, loads_field, count_field = st.columns(3)
    ks = ks_field.text_input("K", "1-15", key="k_sweep_ks", help="Numbers and ranges: 1-5, 8")
    loads = loads_field.text_input(
        "Concurrency", "1", key="k_sweep_loads", help="Two or more make a policy: 1, 4, 16"
    )
    count = count_field.number_input(
        "Prompts", min_value=1, max_value=500, value=PROMPTS, key="k_sweep_prompts"
    )
    running = current().benchmarks.running()
    try:
        plan = sweep_plan(
            config,
            whole_numbers(ks, "K"),
            whole_numbers(loads, "Concurrency"),
            PromptSource(prompts.file, prompts.format, int(count), prompts.weights, prompts.seed),
            baseline=baseline,
        )
        check_arms(plan)
        st.markdown(
            f"**{escaped(plan_summary(plan, int(count), int(count), servers_at_once(plan)))}**"
        )
    except UsageError as error:
        show_error(error)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Start the sweep",
            type="primary",
            icon=":material/play_arrow:",
            disabled=running is not None,
        )
        if running is not None:
            st.text(ONE_AT_A_TIME)
    if pressed:
        _start(plan)


def _basis(chosen: Chosen | None) -> tuple[RunConfig, RunConfig | None, PromptSource]:
    """Arm, baseline and prompts of the benchmark above; the default model's without one."""
    if chosen is None:
        every = dict.fromkeys(CATEGORIES, 1.0)
        return FIRST_METHOD, None, PromptSource(count=PROMPTS, weights=every)
    plan = parse_plan(chosen.opened.row.plan_toml)
    baseline = chosen.family.arms[0].baseline
    return (
        plan.arms[chosen.largest].config,
        None if baseline is None else plan.arms[baseline].config,
        plan.prompts,
    )


def _start(plan: Plan) -> None:
    try:
        check_may_open(arm.config for arm in plan.arms)
        benchmark_id = current().benchmarks.start(plan)
    except UsageError as error:
        show_error(error)
    else:
        pages.switch_to(pages.BENCHMARK, {bench_state.BENCHMARK: benchmark_id})

"""A new benchmark on the page: where its plan comes from, its size, Start."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from specviz.bench.plan.check import check_arms, servers_at_once
from specviz.bench.plan.plan import Plan
from specviz.errors import UsageError
from specviz.prompts.sets import PromptSource, load_conversations
from specviz.runtime import current
from specviz.views.benchmark import state as bench_state
from specviz.views.benchmark.form_controls import plan_form
from specviz.views.benchmark.state import FORM, MODE, PROBLEM, SHIPPED, TEXT, TOML, UPLOAD
from specviz.views.shared.benchmark.plan_text import ONE_AT_A_TIME, plan_summary
from specviz.views.shared.caller import check_may_open
from specviz.views.shared.messages import show_error
from specviz.views.shared.text import escaped

PLAN_NAMES = {
    "two-minutes": "Two minutes on this machine",
    "technique": "Methods in two minutes, embedded",
    "documents": "The documents' benchmark (4 × A100)",
    "k-sweep": "K 1 to 15, embedded",
    "temperature-sweep": "Temperature 0 to 1.5, embedded",
    "ramp": "1 to 16 requests and back, mixed temperatures",
}


def choose_plan() -> Plan | None:
    """The plan as form or editor have it; None, with the reason on the page, if it is none."""
    bench_state.ensure_form()
    _sources()
    # What differs from run to run has its own container: what comes after it keeps its place, and
    # is not drawn twice until the run has ended.
    with st.container():
        if st.session_state[MODE] == FORM:
            plan_form()
        else:
            st.text_area("Plan as TOML", height=420, **bench_state.common(TEXT))
    with st.container():
        if problem := st.session_state.get(PROBLEM):
            show_error(problem)
        return _preview()


def start_button(plan: Plan | None) -> None:
    """Start the plan and open it; one benchmark runs at a time."""
    running = current().benchmarks.running()
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            "Start",
            type="primary",
            icon=":material/play_arrow:",
            disabled=plan is None or running is not None,
        )
        if plan is not None:
            _download()
        if running is not None:
            st.text(ONE_AT_A_TIME)
            if st.button("Show it", icon=":material/speed:", type="tertiary"):
                bench_state.open_benchmark(running)
    if pressed and plan is not None:
        try:
            check_may_open(arm.config for arm in plan.arms)
            benchmark_id = current().benchmarks.start(plan)
        except UsageError as error:
            show_error(error)
        else:
            bench_state.open_benchmark(benchmark_id)


def _sources() -> None:
    """A shipped plan, a file, form or text."""
    shipped, upload, mode = st.columns([4, 4, 2], vertical_alignment="bottom")
    shipped.selectbox(
        "Start from a plan",
        bench_state.shipped_plans(),
        index=None,
        placeholder="your own plan",
        format_func=_plan_name,
        on_change=bench_state.load_shipped,
        help="Fills the form; nothing is started.",
        **bench_state.common(SHIPPED),
    )
    with upload, st.popover("Upload a plan", icon=":material/upload:", width="stretch"):
        st.file_uploader(
            "A plan file (TOML)", "toml", key=UPLOAD, on_change=bench_state.load_upload
        )
    mode.segmented_control(
        "Edit as",
        [FORM, TOML],
        required=True,
        on_change=bench_state.switch_mode,
        **bench_state.common(MODE),
    )


def _plan_name(path: Path) -> str:
    return PLAN_NAMES.get(path.stem, path.stem)


def _preview() -> Plan | None:
    """The summary line and the TOML; None if it is no plan."""
    try:
        text = bench_state.wanted_toml()
        plan = bench_state.parsed(text)
        check_arms(plan)
        prompts, turns, skipped = _prompt_count(plan.prompts)
    except UsageError as error:
        show_error(error)
        return None
    st.markdown(f"**{escaped(plan_summary(plan, prompts, turns, servers_at_once(plan)))}**")
    for note in skipped:
        st.caption(escaped(note))
    if not plan.has_baseline:
        st.caption("Add a baseline arm to get speed-ups.")
    if st.session_state[MODE] == FORM:
        with st.expander("The plan as TOML, for `specviz bench PLAN.toml`"):
            st.code(text, language="toml")
    return plan


def _prompt_count(source: PromptSource) -> tuple[int, int, list[str]]:
    """Prompts, their turns, and a sentence about skipped ones.

    Raises UsageError for a file that cannot be used.
    """
    changed_ns = 0
    if source.file is not None and Path(source.file).is_file():
        changed_ns = Path(source.file).stat().st_mtime_ns
    return _counted_prompts(source, repr(source), changed_ns)


@st.cache_data(max_entries=8, show_spinner="Reading the prompts")
def _counted_prompts(
    _source: PromptSource, source: str, changed_ns: int
) -> tuple[int, int, list[str]]:
    """Read once per source and state of its file: a file may hold a hundred thousand."""
    skipped: list[str] = []
    conversations = load_conversations(_source, skipped.append)
    return len(conversations), sum(len(one.turns) for one in conversations), skipped


def _download() -> None:
    st.download_button(
        "Download the plan",
        bench_state.wanted_toml(),
        file_name="plan.toml",
        mime="application/toml",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
    )

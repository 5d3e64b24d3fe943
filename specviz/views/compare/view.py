"""The Compare page: the picker, and one section at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from specviz.analysis.benchmark.results import load_text
from specviz.runtime import current
from specviz.store import Store
from specviz.store.history.comparison import Candidate, read_candidates
from specviz.views.compare import acceptance as compare_acceptance
from specviz.views.compare import sections as compare_sections
from specviz.views.compare import state
from specviz.views.compare import step_time as compare_step_time
from specviz.views.compare import texts as compare_texts
from specviz.views.compare.html import names_html
from specviz.views.compare.opened import Compared, one_line, open_compared
from specviz.views.shared import pages
from specviz.views.shared.sample import offer_sample
from specviz.views.shared.sections import chosen_section
from specviz.views.shared.text import escaped

OFFERED = 500
"""The newest runs and arms of the picker, and as many results from elsewhere; a link opens any."""

DIFFERENCES = "Paired differences"
SECTIONS: dict[str, Callable[[Compared], None]] = {
    "Texts": compare_texts.texts,
    "Replay": compare_texts.replay,
    "Acceptance by position": compare_sections.positions,
    "Acceptance by definition": compare_acceptance.definitions,
    DIFFERENCES: compare_sections.differences,
    "Where the time goes": compare_step_time.step_time,
    "Configuration": compare_sections.configuration,
}


def show_compare(store: Store) -> None:
    """Pick two or more, then see them side by side. Raises StoreError."""
    asked = state.asked()
    first = asked[: state.MOST_ARMS]
    candidates = store.read(read_candidates, OFFERED, first)
    compared = open_compared(store, first)
    if not candidates and not compared.arms:
        _show_empty(compared)
        return
    _pick(candidates, compared)
    if more := asked[state.MOST_ARMS :]:
        st.warning(f"At most six are compared at once: {len(more)} more of the link are left out.")
    for notice in compared.notices:
        with st.container(border=True):
            st.text(notice)
    if len(compared.arms) < 2:
        _ask_to_pick(compared)
        if store.refusal and not compared.arms:
            _offer_regression()
        return
    st.html(names_html([(arm.name, arm.colour) for arm in compared.arms]))
    if disturbance := compared.disturbance():
        st.warning(escaped(disturbance), icon=":material/speed:")
    SECTIONS[chosen_section(state.SECTION, [*SECTIONS])](compared)


def _pick(candidates: Sequence[Candidate], compared: Compared) -> None:
    """The picker, and the choice of the reference."""
    labels = _labels(candidates)  # never changing: the browser answers with them
    names = {arm.key: arm.name for arm in compared.arms}
    state.follow([*names])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.multiselect(
            "Runs, arms of benchmarks and results from elsewhere",
            [*labels],
            format_func=lambda key: labels[key],
            key=state.PICKED,
            on_change=state.write_picked,
            max_selections=state.MOST_ARMS,
            placeholder="Type to search: method, prompt, benchmark, date",
            width="stretch",
        )
        if len(names) > 1:
            st.selectbox(
                "Reference",
                [*names],
                format_func=lambda key: names[key],
                key=state.REFERENCE,
                on_change=state.write_reference,
                width=320,
                help="Everything else is compared with it. It comes first in the link.",
            )


def _labels(candidates: Sequence[Candidate]) -> dict[str, str]:
    """One unique label each, on one line."""
    labels = {one.key: _label(one) for one in candidates}
    texts = [*labels.values()]
    return {
        key: label if texts.count(label) == 1 else f"{label} · {key[:6]}"
        for key, label in labels.items()
    }


def _label(one: Candidate) -> str:
    title = one.name or (f"{one.method or 'method unknown'}" + (f" · K {one.k}" if one.k else ""))
    parts = [one_line(title)]
    if one.tool is not None:
        parts.append(f"elsewhere: {one_line(one.tool)}")
    if one.engine is not None:
        parts += [one.engine, f"T {one.temperature:g}"]
    if one.concurrency or one.request_rate:
        parts.append(load_text(one.concurrency or None, one.request_rate))
    if one.benchmark is not None:
        parts.append(one_line(one.benchmark, 40))
    elif one.prompt_start:
        parts.append(f"“{one_line(one.prompt_start, 40)}”")
    if one.started_at is not None:
        parts.append(f"{one.started_at:%d %b %H:%M}")
    return " · ".join(parts)


def _show_empty(compared: Compared) -> None:
    for notice in compared.notices:
        st.text(notice)
    st.markdown("#### Nothing to compare yet")
    st.markdown(
        "Every run on the Live page, every `specviz run` and every arm of a benchmark can be "
        "compared with others here."
    )
    with st.container(horizontal=True):
        pages.link(pages.LIVE, "Go to Live")
        pages.link(pages.BENCHMARK, "Go to Benchmark")
        offer_sample()


def _ask_to_pick(compared: Compared) -> None:
    st.markdown(
        "Pick one more to compare it with."
        if compared.arms
        else "Pick two to six. The first one is the reference; the address of this page keeps them."
    )


def _offer_regression() -> None:
    """The sample has a pair to begin with."""
    recorded = current().shown.recorded
    if recorded and len(recorded.regression) > 1:
        pages.link(
            pages.COMPARE,
            "Open a pair: one draft model, and the same one with rounded weights",
            parameters={state.ARMS: ",".join(recorded.regression), state.SECTION: DIFFERENCES},
        )

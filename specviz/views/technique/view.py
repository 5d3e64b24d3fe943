"""The Technique page: two ways to begin, one question at a time or a recommendation; the rest of
it folded away."""

from __future__ import annotations

import streamlit as st

from specviz.analysis.advisor.deployment import Deployment, KnownFacts, deployment_of
from specviz.analysis.advisor.inputs import Answer
from specviz.analysis.advisor.recommend import Recommendation, recommend
from specviz.analysis.benchmark.informative import Need
from specviz.known_facts import facts_of_benchmark
from specviz.runtime import current
from specviz.store import Store
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.views.benchmark.progress import live_progress
from specviz.views.shared.benchmark.choice import Offered, offered
from specviz.views.shared.benchmark.results import open_results
from specviz.views.shared.disagreements import show_disagreements
from specviz.views.shared.published import published_figures
from specviz.views.shared.text import escaped
from specviz.views.technique import state
from specviz.views.technique.asking import show_question
from specviz.views.technique.controls import questions
from specviz.views.technique.draft import advise, show_advice
from specviz.views.technique.drawing import draw_tree
from specviz.views.technique.figure import drawing
from specviz.views.technique.result import (
    fold,
    show_folds,
    show_questions,
    show_recommendation,
)
from specviz.views.technique.ways import show_ways


def show_technique(store: Store) -> None:
    """Everything of the page."""
    stored = offered(store, Need.METHODS)
    _begin(stored)
    if (running := _measured_now()) is not None:
        live_progress(running)
        state.end()
        return
    _what_answers_change(store, stored)
    with st.expander("Published: techniques by aim"):
        published_figures("slo")
    show_disagreements("technique")


def _measured_now() -> str | None:
    """The benchmark of the page while it runs."""
    running = current().benchmarks.running()
    return running if running == state.value_of(state.BENCHMARK) else None


def _begin(stored: Offered) -> None:
    state.begin(stored.first.benchmark_id if stored.first else None)


@st.fragment
def _what_answers_change(store: Store, stored: Offered) -> None:
    """A fragment: what the documents say below it stays as it is when an answer changes."""
    _begin(stored)
    if _measured_now() is not None:
        st.rerun()  # the whole page shows the progress
    chosen = _chosen(stored)
    answers = state.answers()
    facts = _facts(store, chosen, answers)
    checks, of_pair = advise(store, stored.rows, deployment_of(answers, *facts))
    deployment = deployment_of(answers, *facts, of_pair)
    state.remember(deployment)
    found = recommend(deployment)
    # What may be absent has its own container: nothing after it moves.
    with st.container():
        for problem in state.problems():
            st.warning(escaped(problem), icon=":material/info:")
    if (name := state.asked()) is not None:
        show_question(name, deployment, found)
    else:
        show_ways(stored, chosen)
        if answers or facts:
            show_recommendation(found, deployment, chosen)
            show_folds(found)
        with fold("All questions and the whole tree") as box:
            if box.open:
                _tree(deployment, found, facts)
        with fold("Draft model check", expanded=state.names_a_pair()) as box:
            if box.open:
                show_advice(checks)
        show_questions(found)
    state.end()


def _tree(deployment: Deployment, found: Recommendation, facts: list[KnownFacts]) -> None:
    left, right = st.columns([3, 7], gap="medium")
    # The tree first: it is what a change is looked for in.
    with right:
        if problem := state.click_problem():
            st.info(escaped(problem), icon=":material/info:")
        draw_tree(drawing(found.tree), key=state.DRAWING, on_click=state.click)
        st.caption("Click a leaf to fill in the answers that lead to it.")
    with left:
        questions(deployment)
        for note in dict.fromkeys(note for one in facts for note in one.notes):
            st.caption(escaped(note))


def _chosen(stored: Offered) -> BenchmarkRow | None:
    wanted = state.value_of(state.BENCHMARK)
    found = stored.by_id.get(wanted)
    if wanted and found is None and st.query_params.get(state.BENCHMARK) == wanted:
        state.forget_benchmark(
            f"Ignored in the address: no stored benchmark with finished requests has the id "
            f"{wanted}."
        )
    elif wanted and found is None:  # of the sample, which has gone
        found = stored.first
        state.take_benchmark(found.benchmark_id if found else None)
    return found


def _facts(store: Store, row: BenchmarkRow | None, answers: dict[str, Answer]) -> list[KnownFacts]:
    found = []
    if row is not None:
        at = deployment_of(answers)
        results = open_results(store, row).results
        found.append(facts_of_benchmark(row, results, at.temperature, at.concurrency))
    if (of_server := state.server_facts()) is not None:
        found.append(of_server)
    return found

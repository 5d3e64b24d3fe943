"""The Technique page: questions at the left, the tree at the right, the recommendation below."""

from __future__ import annotations

import streamlit as st

from specviz.analysis.advisor.deployment import Deployment, KnownFacts, deployment_of
from specviz.analysis.advisor.inputs import Answer
from specviz.analysis.advisor.recommend import Recommendation, recommend
from specviz.known_facts import facts_of_benchmark
from specviz.store import Store
from specviz.store.benchmarks.reads import read_benchmarks
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.views.shared.benchmark_results import open_results
from specviz.views.shared.disagreements import show_disagreements
from specviz.views.shared.published import published_figures
from specviz.views.shared.text import escaped
from specviz.views.technique import state
from specviz.views.technique.controls import questions, sources
from specviz.views.technique.draft import advise, show_advice
from specviz.views.technique.drawing import draw_tree
from specviz.views.technique.figure import drawing
from specviz.views.technique.result import show_headline, show_questions, show_result

OFFERED = 50


def show_technique(store: Store) -> None:
    """Everything of the page."""
    _what_answers_change(store)
    published_figures("slo")
    show_disagreements("technique")


@st.fragment
def _what_answers_change(store: Store) -> None:
    """A fragment: what the documents say below it stays as it is when an answer changes."""
    state.begin()
    rows = [row for row in store.read(read_benchmarks, limit=OFFERED) if row.finished]
    chosen = _chosen(rows)
    answers = state.answers()
    facts = _facts(store, chosen, answers)
    checks, of_pair = advise(store, rows, deployment_of(answers, *facts))
    deployment = deployment_of(answers, *facts, of_pair)
    state.remember(deployment)
    found = recommend(deployment)
    # What may be absent has its own container: nothing after it moves.
    with st.container():
        for problem in state.problems():
            st.warning(escaped(problem), icon=":material/link_off:")
    _upper_half(rows, deployment, found, facts)
    show_result(found)
    show_questions(found)
    show_advice(checks)
    state.end()


def _upper_half(
    rows: list[BenchmarkRow], deployment: Deployment, found: Recommendation, facts: list[KnownFacts]
) -> None:
    left, right = st.columns([3, 7], gap="medium")
    # The tree first: it is what a change is looked for in.
    with right:
        with st.container(gap="xsmall"):
            show_headline(found)
            if problem := state.click_problem():
                st.info(escaped(problem), icon=":material/info:")
        draw_tree(drawing(found.tree), key=state.DRAWING, on_click=state.click)
        st.caption("Click a leaf to fill in the answers that lead to it.")
    with left:
        sources(rows)
        questions(deployment)
        for note in dict.fromkeys(note for one in facts for note in one.notes):
            st.caption(escaped(note))


def _chosen(rows: list[BenchmarkRow]) -> BenchmarkRow | None:
    wanted = state.value_of(state.BENCHMARK)
    found = next((row for row in rows if row.benchmark_id == wanted), None)
    if wanted and found is None:
        state.forget_benchmark(
            f"Ignored in the address: no stored benchmark with finished requests has the id "
            f"{wanted}."
        )
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

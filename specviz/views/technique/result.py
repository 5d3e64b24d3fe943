"""The recommendation: what to do, how sure, from what and why; the rest is folded away."""

from __future__ import annotations

from typing import Any

import streamlit as st

from specviz.analysis.advisor.branches import Speculate
from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.inputs import INPUTS
from specviz.analysis.advisor.interview import ORDER, turns
from specviz.analysis.advisor.measured import Option
from specviz.analysis.advisor.questions import chosen_option
from specviz.analysis.advisor.recommend import Recommendation, sentence
from specviz.analysis.advisor.sentences import (
    certainty,
    decision,
    figure_text,
    gain_of,
    k_text,
    reason_text,
)
from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.methods import Method
from specviz.models.pair import default_draft, default_model
from specviz.paths import PROJECT_ROOT
from specviz.servers.kinds import launcher_of
from specviz.servers.launch.printed_command import serving_command, unnamed, version_note
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.views.shared.charts import ONLY_AS_FILE
from specviz.views.shared.text import escaped
from specviz.views.technique import state
from specviz.views.technique.gains import at_every_load, gains
from specviz.views.technique.tables import contradiction_rows, figures_table, questions_table

_COLOURS = {Speculate.ON: "green", Speculate.OFF: "orange", Speculate.UNDECIDED: "gray"}


def show_recommendation(
    found: Recommendation, deployment: Deployment, row: BenchmarkRow | None
) -> None:
    """What to do, how sure that is and from what, then why."""
    chosen = chosen_option(deployment)
    places = (
        at_every_load(deployment.measured.options, chosen) if chosen and deployment.measured else []
    )
    with st.container(border=True):
        text, figure = st.columns([6, 4], gap="medium") if places else (st.container(), None)
        with text:
            _what(found, chosen, row)
            for one in places:
                if one.gains is None and one.place != (chosen and chosen.place):
                    st.caption(escaped(f"At {one.place}: {one.speedup.verdict_text}."))
        if figure is not None:
            figure.plotly_chart(gains(places), config=ONLY_AS_FILE, key="chart-technique-gains")
    _why(found)


def _what(found: Recommendation, chosen: Option | None, row: BenchmarkRow | None) -> None:
    colour = _COLOURS[found.speculate]
    st.markdown(f"### :{colour}[{escaped(decision(found))}]")
    if (gain := gain_of(found)) is not None and chosen is not None:
        st.markdown(escaped(f"{gain}, at {chosen.place}"))
    elif found.expected:
        first = found.expected[0]
        st.markdown(escaped(f"{first.name} {figure_text(first)}, {first.evidence}"))
    if found.k is not None:
        st.caption(escaped(f"K {k_text(found.k)}: {found.k.evidence}"))
    st.markdown(escaped(f"How sure: {certainty(found)}"))
    st.caption(escaped(f"From {_basis(found, row)}"))


def _basis(found: Recommendation, row: BenchmarkRow | None) -> str:
    """What the recommendation rests on."""
    if found.measured is not None and row is not None:
        hardware = row.hardware or "unknown hardware"
        return f"the benchmark {row.name}, {row.started_at:%d %b %Y}, on {hardware}."
    return "the answers below and the documents' rules of thumb; each row names its rule."


def _why(found: Recommendation) -> None:
    """The path, a row per question, each with a way back to it; then what is open."""
    st.markdown("**Why**")
    for turn in turns(found.tree):
        _row(turn.question, turn.answer, f"{turn.rests_on} · {turn.flip}".strip(" ·"), turn.name,
             "Change" if turn.is_yours else None)  # fmt: skip
    said = {sentence(node) for node in found.tree.nodes.values()}
    for reason in found.reasons:
        if reason.text not in said:
            st.caption(escaped(reason_text(reason)))
    for missing in found.missing:
        _row(missing.decides, "not known", "", missing.name, "Answer")


def _row(question: str, answer: str, rests_on: str, name: str, action: str | None) -> None:
    columns = st.columns([5, 2, 5, 1.4], gap="small", vertical_alignment="center")
    columns[0].text(question)
    columns[1].markdown(f"**{escaped(answer)}**")
    columns[2].caption(escaped(rests_on) or "–")
    if action and name in ORDER:
        columns[3].button(
            action,
            key=f"technique_row_{name}",
            type="tertiary",
            on_click=state.ask,
            args=(name, False),
            help=INPUTS[name].question,
        )


def show_folds(found: Recommendation) -> None:
    """How to start it, what to expect, where sources disagree: closed until asked for."""
    if found.method is not None:
        with fold("Launch command and router") as box:
            if box.open:
                _how(found, found.method)
    if found.expected:
        with fold("Expected figures") as box:
            if box.open:
                st.table(
                    figures_table(found.expected).map(escaped),
                    border="horizontal",
                    hide_index=True,
                )
    if found.contradictions:
        with fold(f"Where the evidence disagrees ({len(found.contradictions)})") as box:
            if box.open:
                st.table(
                    contradiction_rows(found.contradictions).map(escaped),
                    border="horizontal",
                    hide_index=True,
                )


def fold(title: str, *, expanded: bool = False) -> Any:
    """A section whose contents are only made while it is open: `.open` says so."""
    return st.expander(title, expanded=expanded, on_change="rerun")


def show_questions(found: Recommendation) -> None:
    """Every question with its evidence, in full."""
    with fold("Every question, its evidence and how far it is from flipping") as box:
        if box.open:
            st.table(
                questions_table([*found.tree.nodes.values()]).map(escaped),
                border="horizontal",
                hide_index=True,
            )


def _how(found: Recommendation, method: Method) -> None:
    target, draft = _models(found, method)
    k = found.k.k if found.k else None
    try:
        command = serving_command(launcher_of(EngineKind.VLLM), target, method, draft, k)
    except UsageError as error:
        st.text(f"{error} specviz runs it in the embedded engine (Live, Benchmark).")
    else:
        st.code(command, language="bash", wrap_lines=True)
        if names := unnamed(command):
            st.caption(f"Replace {escaped(', '.join(names))}.")
        if note := version_note(launcher_of(EngineKind.VLLM), method):
            st.caption(note)
    if found.router is not None:
        st.markdown("**For a router**")
        st.code(found.router.toml(), language="toml", wrap_lines=True)


def _models(found: Recommendation, method: Method) -> tuple[str | None, str | None]:
    """The models of the command: the named pair, else the default model where it was measured."""
    if state.names_a_pair():
        target, draft = (str(state.value_of(name)) for name in (state.TARGET, state.DRAFT))
        return target, draft if method is Method.DRAFT_MODEL else found.draft
    usual = default_draft(method)
    if usual is not None and found.draft == usual.name:
        return default_model(), str(usual).removeprefix(f"{PROJECT_ROOT}/")
    return None, found.draft

"""What follows from the tree: technique, K, figures, command, router thresholds, and why."""

from __future__ import annotations

import streamlit as st

from specviz.analysis.advisor.branches import Speculate
from specviz.analysis.advisor.recommend import Recommendation
from specviz.analysis.advisor.sentences import figure_text, headline, k_text, reason_text
from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.methods import METHODS, Method
from specviz.paths import DEMO_TARGET, PROJECT_ROOT
from specviz.servers.kinds import launcher_of
from specviz.servers.launch.printed_command import serving_command, unnamed, version_note
from specviz.views.shared.text import escaped
from specviz.views.technique import state
from specviz.views.technique.tables import contradiction_rows, figures_table, questions_table

_COLOURS = {Speculate.ON: "green", Speculate.OFF: "orange", Speculate.UNDECIDED: "gray"}


def show_headline(found: Recommendation) -> None:
    """One line above the tree."""
    colour = _COLOURS[found.speculate]
    st.markdown(f"#### :{colour}[{escaped(headline(found))}]")
    if found.expected:
        first = found.expected[0]
        st.caption(escaped(f"{first.name} {figure_text(first)}, {first.evidence}"))


def show_result(found: Recommendation) -> None:
    """The card under the tree."""
    left, right = st.columns(2, gap="medium")
    with left, st.container(border=True, gap="xsmall"):
        st.markdown("**Why**")
        _reasons(found)
    with right, st.container(border=True, gap="xsmall"):
        st.markdown("**How**")
        _how(found)
    with st.container():
        _disagreements(found)
    with st.container():
        if found.expected:
            st.markdown("**Expected figures**")
            st.table(
                figures_table(found.expected).map(escaped), border="horizontal", hide_index=True
            )


def _disagreements(found: Recommendation) -> None:
    if found.contradictions:
        st.markdown("**Where they disagree**")
        st.table(
            contradiction_rows(found.contradictions).map(escaped),
            border="horizontal",
            hide_index=True,
        )


def show_questions(found: Recommendation) -> None:
    """Every question with its evidence, in full."""
    title = "Every question, its evidence and how far it is from flipping"
    with st.expander(title, on_change="rerun") as box:
        if box.open:
            st.table(
                questions_table([*found.tree.nodes.values()]).map(escaped),
                border="horizontal",
                hide_index=True,
            )


def _reasons(found: Recommendation) -> None:
    for reason in found.reasons:
        st.text(reason_text(reason))
    if not found.reasons:
        st.text("Not decided by the answers so far.")
    if found.k is not None:
        st.text(f"K {k_text(found.k)}: {found.k.evidence}")
    if found.missing:
        st.markdown("**Not known**")
        for missing in found.missing:
            st.text(missing.decides)


def _how(found: Recommendation) -> None:
    if found.method is None:
        st.text(
            "Nothing to start: plain decoding."
            if found.speculate is Speculate.OFF
            else "Answer the open questions to get the launch command."
        )
        return
    target, draft = _models(found)
    k = found.k.k if found.k else None
    try:
        command = serving_command(launcher_of(EngineKind.VLLM), target, found.method, draft, k)
    except UsageError as error:
        st.text(f"{error} specviz runs it in the embedded engine (Live, Benchmark).")
    else:
        st.code(command, language="bash", wrap_lines=True)
        if names := unnamed(command):
            st.caption(f"Replace {escaped(', '.join(names))}.")
        if note := version_note(launcher_of(EngineKind.VLLM), found.method):
            st.caption(note)
    if found.router is not None:
        st.markdown("**For a router**")
        st.code(found.router.toml(), language="toml", wrap_lines=True)


def _models(found: Recommendation) -> tuple[str | None, str | None]:
    """The models of the command: the named pair, else the demo family where it was measured."""
    if state.names_a_pair():
        target, draft = (str(state.value_of(name)) for name in (state.TARGET, state.DRAFT))
        return target, draft if found.method is Method.DRAFT_MODEL else found.draft
    demo = METHODS[found.method].demo_draft if found.method else None
    if demo is not None and found.draft == demo.name:
        names = (folder.relative_to(PROJECT_ROOT).as_posix() for folder in (DEMO_TARGET, demo))
        return next(names), next(names)
    return None, found.draft

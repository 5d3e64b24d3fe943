"""Learn: the documents' quiz questions, answers on a click, and where to see them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import streamlit as st

from specviz.paths import DATA, PROJECT_ROOT
from specviz.views.benchmark.plan_text import as_text
from specviz.views.learn.state import go_to

QUIZ = DATA / "reference" / "quiz.toml"
WORDS = (
    "The questions of the Production benchmark 2026 (8) and of the Tutorial 2026 (6), in our own "
    "words. Think first: the answer opens on a click."
)
PAGES = {
    "benchmark": "Benchmark: measure it",
    "k_explorer": "K: see it",
    "decision": "Technique: see it",
    "cost": "Cost: see it",
    "learn": "Learn: see it",
}


@dataclass(frozen=True, slots=True)
class Question:
    """One question with the document's answer, and what its own figures say against it."""

    question: str
    answer: str
    page: str
    source: str
    correction: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)


@cache
def questions() -> tuple[Question, ...]:
    """All questions in the documents' order."""
    found = tomllib.loads(QUIZ.read_text(encoding="utf-8"))["question"]
    return tuple(Question(**entry) for entry in found)


def quiz() -> None:
    """Every question as a closed expander."""
    st.markdown(WORDS)
    for number, question in enumerate(questions(), start=1):
        with st.expander(f"{number}. {as_text(question.question)}"):
            st.markdown(as_text(question.answer))
            if question.correction:
                with st.container(border=True):
                    st.markdown(f":material/compare_arrows: {as_text(question.correction)}")
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(as_text(question.source), width="content")
                _link(question, f"learn_see_{number}")


def _link(question: Question, key: str) -> None:
    label, icon = PAGES[question.page], ":material/arrow_forward:"
    if question.page == "learn":
        parameters = (dict(question.parameters),)
        st.button(label, icon=icon, type="tertiary", key=key, on_click=go_to, args=parameters)
    else:
        st.page_link(PROJECT_ROOT / "pages" / f"{question.page}.py", label=label, icon=icon)

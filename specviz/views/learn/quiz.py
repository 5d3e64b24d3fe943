"""Learn: the documents' quiz questions, answers on a click, and where to see them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import streamlit as st

from specviz.paths import DATA
from specviz.views.learn.state import go_to
from specviz.views.shared.pages import BENCHMARK, LEARN, PAGES, link
from specviz.views.shared.text import escaped

QUIZ = DATA / "reference" / "quiz.toml"
WORDS = (
    "The questions of the Production benchmark 2026 (8) and of the Tutorial 2026 (6), in our own "
    "words. Think first: the answer opens on a click."
)


@dataclass(frozen=True, slots=True)
class Question:
    """One question with the document's answer, and a correction from the document's own figures."""

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
        with st.expander(f"{number}. {escaped(question.question)}"):
            st.markdown(escaped(question.answer))
            if question.correction:
                with st.container(border=True):
                    st.markdown(f":material/compare_arrows: {escaped(question.correction)}")
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(escaped(question.source), width="content")
                _link(question, f"learn_see_{number}")


def _link(question: Question, key: str) -> None:
    page, icon = PAGES[question.page], ":material/arrow_forward:"
    label = f"{page.title}: {'measure it' if page is BENCHMARK else 'see it'}"
    if page is LEARN:
        parameters = (dict(question.parameters),)
        st.button(label, icon=icon, type="tertiary", key=key, on_click=go_to, args=parameters)
    else:
        link(page, label, icon=icon)

"""The Learn page: one section at a time."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from specviz.views.learn import state as learn_state
from specviz.views.learn.formula import formula
from specviz.views.learn.mechanisms import mechanisms
from specviz.views.learn.overlap import overlapping
from specviz.views.learn.quiz import quiz
from specviz.views.learn.rejection import rejection
from specviz.views.learn.roofline import roofline
from specviz.views.shared.disagreements import show_disagreements
from specviz.views.shared.url_controls import bound

SECTIONS: dict[str, Callable[[], None]] = {
    "Rejection": rejection,
    "Formula": formula,
    "Roofline": roofline,
    "Mechanisms": mechanisms,
    "Overlap": overlapping,
    "Quiz": quiz,
}
"""By their names, which are in the URL too."""

FIRST = "Rejection"


def show_learn() -> None:
    """The chosen section, then where the documents disagree."""
    learn_state.start(learn_state.SECTION, FIRST)
    chosen = st.segmented_control(
        "Section",
        [*SECTIONS],
        required=True,
        label_visibility="collapsed",
        **bound(learn_state.SECTION),
    )
    SECTIONS[chosen or FIRST]()
    show_disagreements("learn")

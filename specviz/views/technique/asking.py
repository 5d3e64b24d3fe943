"""One question alone, with the answers so far above it and a way back to each."""

from __future__ import annotations

import streamlit as st

from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.inputs import INPUTS, Answer, Kind
from specviz.analysis.advisor.interview import ORDER, to_ask
from specviz.analysis.advisor.node import Node
from specviz.analysis.advisor.questions import INPUT_OF
from specviz.analysis.advisor.recommend import Recommendation
from specviz.views.shared.text import escaped
from specviz.views.technique import state
from specviz.views.technique.controls import LABELS, number_field

KNOWN, OPEN = ":material/check:", ":material/remove:"


def show_question(name: str, deployment: Deployment, found: Recommendation) -> None:
    """The question `name`, and what was answered before."""
    one = INPUTS[name]
    _so_far(name, deployment)
    with st.container(border=True):
        st.markdown(f"#### {escaped(one.question)}")
        st.caption(escaped(_rule(name, found)))
        if one.kind is Kind.YES_NO:
            _yes_or_no(name)
        else:
            _number(name)
    st.button(
        "Leave the questions",
        type="tertiary",
        icon=":material/close:",
        on_click=state.ask,
        args=(None,),
    )


def _so_far(name: str, deployment: Deployment) -> None:
    """Where one is, and a button back to each earlier question."""
    asked = to_ask(deployment)
    place = f"Question {asked.index(name) + 1} of {len(asked)}" if name in asked else None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{place or 'One more question'}**")
        before = [one for one in ORDER if ORDER.index(one) < ORDER.index(name)]
        for one in before:
            value = deployment.answers.get(one)
            if value is None and one not in asked:
                continue
            st.button(
                escaped(f"{INPUTS[one].label}: {_text(one, value)}"),
                key=f"technique_back_{one}",
                icon=OPEN if value is None else KNOWN,
                on_click=state.ask,
                args=(one,),
                help="Answer this again.",
            )


def _text(name: str, value: Answer | None) -> str:
    """An answer as it was given: `30 %`, `yes`, `20 GB`."""
    if value is None or isinstance(value, bool | str):
        return "not known" if value is None else INPUTS[name].format(value)
    if name in state.SHARES:
        return f"{100 * value:g} %"
    unit = INPUTS[name].unit
    return f"{value:g} {unit}".strip()


def _yes_or_no(name: str) -> None:
    with st.container(horizontal=True, gap="small"):
        for label, value in (("Yes", "yes"), ("No", "no"), ("Not known", None)):
            st.button(
                label,
                key=f"technique_say_{label}",
                type="secondary" if value else "tertiary",
                on_click=state.answer,
                args=(name, value),
            )


def _number(name: str) -> None:
    """A form: Enter answers."""
    with st.form("technique_form", border=False):
        number_field(INPUTS[name], LABELS[name], None, {"key": state.field_of(name), "width": 240})
        with st.container(horizontal=True, gap="small"):
            st.form_submit_button(
                "Next", type="primary", on_click=state.answer_with_field, args=(name,)
            )
            st.form_submit_button(
                "Not known", type="tertiary", on_click=state.answer, args=(name, None)
            )


def _rule(name: str, found: Recommendation) -> str:
    """What the answer decides, and who says so."""
    nodes: list[Node] = [
        node for node in found.tree.nodes.values() if INPUT_OF.get(node.id) == name
    ]
    rules = dict.fromkeys(f"{node.question} {node.rule or ''}".strip() for node in nodes)
    return " · ".join([*([INPUTS[name].help] if INPUTS[name].help else []), *rules])

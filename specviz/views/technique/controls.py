"""All questions as fields, next to the tree."""

from __future__ import annotations

from typing import Any

import streamlit as st

from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.inputs import INPUTS, Input, Kind, Slo
from specviz.views.shared.text import escaped
from specviz.views.technique import state

_TITLES = {
    Slo.TPOT: "TPOT limit",
    Slo.THROUGHPUT: "throughput",
    Slo.COST: "least cost",
}
LABELS = {
    "speedup": "Speed-up, ×",
    "memory_pressure": "Memory pressure",
    "temperature": "Temperature",
    "concurrency": "Concurrency",
    "acceptance": "Acceptance, %",
    "gpu_utilization": "GPU in use, %",
    "output_tokens": "Answer, tokens",
    "draft_fits": "Draft fits",
    "target_swapped": "Target swapped",
    "spare_memory_gb": "Spare memory, GB",
    "light_training": "Light training",
    "text": "Kind of text",
    "slo": "Aim",
    "slo_tpot_ms": "TPOT P95, ms",
}
"""In the order of the tree."""

_STEPS = {"temperature": 0.1, "speedup": 0.1}


def questions(deployment: Deployment) -> None:
    """One field per input; a value that was read is the placeholder of the empty field."""
    fields = [*LABELS.items()]
    for row in zip(fields[::2], fields[1::2], strict=True):
        for column, (name, label) in zip(st.columns(2, gap="small"), row, strict=True):
            with column:
                _field(INPUTS[name], label, deployment)
    st.button(
        "Clear all answers", on_click=state.forget, type="tertiary", icon=":material/restart_alt:"
    )


def _field(one: Input, label: str, deployment: Deployment) -> None:
    read = deployment.source(one.name) if one.name in deployment.sources else None
    known = deployment.answers.get(one.name)
    help_text = f"{one.help} Read: {escaped(str(read))}".strip() if read else (one.help or None)
    common: dict[str, Any] = {
        "key": state.key_of(one.name),
        "help": help_text,
        "persist_state": "session",
    }
    if one.kind is Kind.YES_NO:
        shown = f"{label} ({'yes' if known else 'no'})" if read else label
        st.segmented_control(shown, ["yes", "no"], **common)
    elif one.kind is Kind.CHOICE:
        st.selectbox(
            label,
            one.choices,
            index=None,
            format_func=lambda choice: _TITLES.get(choice, str(choice).replace("_", " ")),
            placeholder="any",
            **common,
        )
    else:
        number_field(one, label, float(known) if read and known is not None else None, common)


def number_field(one: Input, label: str, read: float | None, common: dict[str, Any]) -> None:
    """An empty field within the input's range; `read` is shown in it where it was read."""
    scale = 100 if one.name in state.SHARES else 1
    common["placeholder"] = "–" if read is None else f"{read * scale:.3g}"
    low, high = one.low * scale, one.high * scale
    if one.kind is Kind.WHOLE:
        st.number_input(label, int(low), int(high), None, 1, **common)
    else:
        step = _STEPS.get(one.name, 1.0 if scale == 1 else 5.0)
        st.number_input(label, low, high, None, step, "%g", **common)

"""Learn: mirror drafts while it verifies; next to it, a draft model that waits."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from specviz.analysis.overlap import overlap
from specviz.analysis.text import digits, percent
from specviz.figures.timeline import timeline
from specviz.methods import METHODS, Method
from specviz.trace import Trace
from specviz.views.learn.traces import shipped
from specviz.views.shared.charts import TOOLBAR
from specviz.views.shared.tables import show_figures

WORDS = (
    "With a draft model, drafting and verification take turns. Mirror drafts the next step while "
    "the target still verifies this one: the green lane is the time at which both work, which a "
    "method that takes turns would need on top."
)
WINDOW = 8
COMPARED = (Method.DRAFT_MODEL, Method.MIRROR)


def overlapping() -> None:
    """The recorded traces of draft_model and mirror over one time axis, and the time saved."""
    st.markdown(WORDS)
    st.caption(METHODS[Method.MIRROR].source)
    traces = {method.value: shipped(method).trace for method in COMPARED}
    last = min(len(trace.steps) for trace in traces.values())
    first, until = st.slider("Steps", 1, last, (2, min(last, 1 + WINDOW)), key="learn_window")
    window = {name: trace.steps[first - 1 : until] for name, trace in traces.items()}
    st.plotly_chart(timeline(window), config=TOOLBAR, key="learn_timeline")
    st.markdown("##### The whole answer")
    show_figures(saved_table(traces), words=("method",))
    st.caption(
        "Saved: time at which both lanes worked, in % of what taking turns would have taken. Both "
        "traces were recorded on one machine, where the lanes share its CPU cores: each lane is "
        "slower than it would be alone. The paper gives each its own accelerator."
    )


def saved_table(traces: Mapping[str, Trace]) -> pd.DataFrame:
    """One line per trace: the time of each lane, of both, and what overlapping saved."""
    lines = []
    for name, trace in traces.items():
        found = overlap(trace.steps)
        took = sum(step.wall_ms or 0.0 for step in trace.steps)
        tokens = len(trace.emitted)
        in_turns = None if found is None else took + found.both_ms
        lines.append(
            {
                "method": name,
                "steps": str(len(trace.steps)),
                "tokens": str(tokens),
                "draft ms": found and digits(found.draft_ms),
                "verify ms": found and digits(found.verify_ms),
                "both at once ms": found and digits(found.both_ms),
                "took ms": digits(took),
                "taking turns ms": digits(in_turns),
                "saved": found and in_turns and percent(found.both_ms / in_turns),
                "ms per token": digits(took / tokens),
            }
        )
    return pd.DataFrame(lines)

"""Learn: rejection sampling with two distributions that can be edited."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from specviz.analysis.text import probability_text
from specviz.analysis.theory.rejection import (
    Probs,
    Rule,
    Simulation,
    acceptance,
    is_normalised,
    normalised,
    output_probs,
    simulate,
    total_variation,
)
from specviz.errors import UsageError
from specviz.views.learn import state
from specviz.views.learn.figures.rejection import outputs, shared_area
from specviz.views.shared.charts import TOOLBAR, figure_row
from specviz.views.shared.messages import show_error
from specviz.views.shared.tables import show_figures
from specviz.views.shared.url_controls import bound

WORDS = (
    "The draft token is accepted with probability min(1, target / draft). After a rejection the "
    "output is drawn from what the target has more of than the draft: max(0, target − draft), "
    "scaled to 1. Together that is the target's distribution, whatever the draft is."
)
SOURCES = (
    "[Leviathan et al., 2211.17192, section 2.3 and appendix A.1]"
    "(https://arxiv.org/abs/2211.17192) · "
    "[Chen et al., 2302.01318, theorem 1](https://arxiv.org/abs/2302.01318)"
)
DRAWS = (100, 1_000, 10_000, 100_000, 1_000_000)
WHAT_IT_DOES = {
    Rule.EXACT: "accept or draw from the residual: the target's distribution",
    Rule.ALWAYS_ACCEPT: "the output is the draft's distribution",
    Rule.TARGET_RESAMPLE: "else draw from the target: what both share comes too often",
}


def rejection() -> None:
    """The two distributions, their overlap, and a simulation of three rules."""
    st.markdown(WORDS)
    with st.container(horizontal=True, gap="xsmall"):
        for name in state.PRESETS:
            st.button(name, on_click=state.set_preset, args=(name,), key=f"learn_preset_{name}")
    left, right = st.columns([2, 5], gap="medium")
    with left:
        found = _edited()
    if found is None:
        return
    tokens, target, draft = found
    with right:
        _figures(target, draft)
        st.plotly_chart(shared_area(tokens, target, draft), config=TOOLBAR, key="learn_shared")
    _simulation(tokens, target, draft)
    st.caption(SOURCES)


def _edited() -> tuple[list[str], Probs, Probs] | None:
    """Token names and both distributions; None, with a sentence, if the table has none."""
    column = st.column_config.NumberColumn(min_value=0.0, format="%.4g", required=False)
    table = st.data_editor(
        state.base_weights(),
        key=state.editor_key(),
        column_config={
            "_index": st.column_config.TextColumn("token", disabled=True),
            state.TARGET: column,
            state.DRAFT: column,
        },
        placeholder="",
        height="content",
    ).dropna(how="all")
    try:
        return _read(table)
    except UsageError as error:
        show_error(error)
        return None


def _read(table: pd.DataFrame) -> tuple[list[str], Probs, Probs]:
    """Raises UsageError for a table that is not two distributions."""
    if len(table) < state.LEAST_TOKENS:
        raise UsageError(f"Fill in at least {state.LEAST_TOKENS} tokens: blank rows do not count.")
    rows = table.fillna(0.0)
    target, draft = list(rows[state.TARGET]), list(rows[state.DRAFT])
    found = normalised(target, "The target"), normalised(draft, "The draft")
    state.keep_weights(target, draft)
    changed = [
        f"{name} summed to {sum(weights):.4g}"
        for name, weights in ((state.TARGET, target), (state.DRAFT, draft))
        if not is_normalised(weights)
    ]
    if changed:
        st.caption(f":material/info: Divided by their sum: {', '.join(changed)}.")
    return [str(name) for name in rows.index], *found


def _figures(target: Probs, draft: Probs) -> None:
    accepted = acceptance(target, draft)
    figure_row(
        {
            "acceptance, Σ min(target, draft)": f"{accepted:.3f}",
            "total variation, 1 − acceptance": f"{total_variation(target, draft):.3f}",
            "drawn again after a rejection": f"{1 - accepted:.3f}",
        }
    )


def _simulation(tokens: Sequence[str], target: Probs, draft: Probs) -> None:
    st.markdown("##### What comes out")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        n = st.select_slider(
            "Draft tokens drawn",
            DRAWS,
            10_000,
            format_func=lambda draws: f"{draws:,}",
            width=320,
            **bound(state.DRAWS),
        )
        seed = st.number_input("Seed", 0, 2**31 - 1, 7, width=140, **bound(state.SEED))
    found = _simulated(tuple(target), tuple(draft), n, seed)
    st.plotly_chart(outputs(tokens, target, found), config=TOOLBAR, key="learn_outputs")
    show_figures(summary(target, draft, found), words=("rule", "what it does"))
    st.caption(
        "Bars: what a token's probability should be. Marks: its share of the output, with Wilson's "
        "95 % interval; 1 in 20 correct ones misses its bar by chance. Distance: total variation "
        "from the target, of what was drawn and of the rule itself."
    )


def summary(target: Probs, draft: Probs, found: dict[Rule, Simulation]) -> pd.DataFrame:
    """One line per rule: what it does, and how far its output is from the target's."""
    lines = []
    for rule, simulation in found.items():
        lower, upper = simulation.intervals()
        held = int(((lower <= target) & (target <= upper)).sum())
        exact = output_probs(target, draft, rule)
        lines.append(
            {
                "rule": rule.value,
                "accepted": f"{simulation.accepted / simulation.n:.3f}",
                "target in interval": f"{held} of {len(target)} tokens",
                "distance, drawn": probability_text(total_variation(simulation.shares, target)),
                "distance, exact": probability_text(round(total_variation(exact, target), 9)),
                "what it does": WHAT_IT_DOES[rule],
            }
        )
    return pd.DataFrame(lines)


@st.cache_data(max_entries=64, show_spinner=False)
def _simulated(
    target: tuple[float, ...], draft: tuple[float, ...], n: int, seed: int
) -> dict[Rule, Simulation]:
    return simulate(np.array(target), np.array(draft), n, seed)

"""What the K page remembers: every control under a key that is its parameter in the URL."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from specviz.analysis.k.curves import Source

BENCHMARK = "k_benchmark"
FAMILY = "k_family"
CATEGORY = "k_category"
TEMPERATURE = "k_temperature"
CONCURRENCY = "k_concurrency"
CURVES = "k_curves"
ALPHA, COST = "k_alpha", "k_cost"
MEMORY = "k_memory"
SECTION = "k_section"
TPOT_MS, TTFT_MS = "k_tpot_ms", "k_ttft_ms"
HOLD_STEPS, MIXED = "k_hold_steps", "k_mixed"
SERVER, VERSION, ROW = "k_schedule_for", "k_schedule_version", "k_schedule_row"

DEFAULTS = {ALPHA: 0.8, COST: 0.1}
"""The formula's sliders where nothing was measured."""

_FOLLOWED = "_k_followed"


def editor_key(table: str) -> str:
    """The policy's editor: what was edited belongs to one table, which the text names."""
    return f"_k_policy_{table}"


def begin() -> None:
    """The sliders' first values, where no link says others."""
    for key, value in DEFAULTS.items():
        if key not in st.query_params:
            st.session_state.setdefault(key, value)


def follow(run: str, alpha: float, cost: float) -> None:
    """The formula's sliders begin at what another run measured, unless a link says otherwise."""
    before = st.session_state.get(_FOLLOWED)
    if before != run:
        st.session_state[_FOLLOWED] = run
        if before is not None or not {ALPHA, COST} & {*st.query_params}:
            st.session_state[ALPHA] = round(min(1.0, max(0.0, alpha)), 2)
            st.session_state[COST] = round(min(1.0, max(0.0, cost)), 2)


def shown_first(sources: Sequence[Source]) -> list[Source]:
    """Every source begins on the chart, published ones only where nothing was measured."""
    has_own = Source.MEASURED in sources or Source.PREDICTED in sources
    return [one for one in sources if not (has_own and one == Source.PUBLISHED)]

"""K by temperature and load: by what, the table, what each cell rests on, and where it can go."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from specviz.analysis.benchmark.families import Family
from specviz.analysis.benchmark.results import Slo
from specviz.analysis.policy.objective import Objective
from specviz.analysis.policy.sentences import objective_text
from specviz.analysis.policy.table import (
    HOLD_STEPS,
    PolicyTable,
    at_any_temperature,
    policy_table,
)
from specviz.config import EngineKind
from specviz.errors import UsageError
from specviz.policy.file import policy_toml
from specviz.views.k import state
from specviz.views.k.chosen import Chosen
from specviz.views.k.policy.editor import edited, evidence
from specviz.views.k.policy.servers import show_schedule
from specviz.views.shared.benchmark.results import Opened
from specviz.views.shared.messages import show_error
from specviz.views.shared.tables import show_figures
from specviz.views.shared.text import escaped
from specviz.views.shared.url_controls import bound

KEPT = 32


def show_policy(chosen: Chosen) -> None:
    """The table of the method above, from all loads and temperatures of its benchmark."""
    asked = _ask()
    try:
        table = _table(chosen, asked)
    except UsageError as error:
        show_error(error)
        return
    if chosen.family.arms[0].engine == EngineKind.EMBEDDED:
        st.info(
            "The embedded engine has no batch: its requests wait for each other. Measure this "
            "method on a server before you use the table there.",
            icon=":material/info:",
        )
    st.caption(
        f"K by {objective_text(table.objective)}: the smallest that is not worse than the best "
        "beyond noise, of those that were measured there. 0 drafts nothing. Click a cell to "
        "change it."
    )
    grid = edited(table, state.editor_key(_name(chosen, asked)))
    policy = replace(grid, hold_steps=asked.hold_steps)
    st.download_button(
        "Download policy.toml",
        policy_toml(policy),
        "policy.toml",
        "application/toml",
        icon=":material/download:",
        on_click="ignore",
    )
    st.markdown("**What each K rests on**")
    show_figures(evidence(table, policy), words={"where", "rests on"})
    for note in table.notes:
        st.caption(escaped(note))
    st.markdown("**As a server's own schedule**")
    show_schedule(policy, chosen.family.arms[-1])


@dataclass(frozen=True, slots=True)
class Asked:
    """The section's controls. `mixed`: one K for all temperatures of a load."""

    slo: Slo
    hold_steps: int
    mixed: bool


def _ask() -> Asked:
    tpot, ttft, hold = st.columns(3)
    tpot_ms = tpot.number_input(
        "TPOT up to, ms", min_value=0.1, value=None, placeholder="no limit",
        help="With a limit, K is chosen by goodput: requests per second that meet it. Without, by "
        "output tokens per second.",
        **bound(state.TPOT_MS),
    )  # fmt: skip
    ttft_ms = ttft.number_input(
        "TTFT up to, ms", min_value=0.1, value=None, placeholder="no limit", **bound(state.TTFT_MS)
    )
    hold_steps = hold.number_input(
        "Steps to hold", min_value=1, max_value=10_000, value=HOLD_STEPS,
        help="K changes only after this many engine steps in a row at another load, so that it "
        "does not flap.",
        **bound(state.HOLD_STEPS),
    )  # fmt: skip
    mixed = st.toggle(
        "One K for all temperatures",
        help="For traffic that mixes them: a request at K = 0 waits for the drafts of the others.",
        **bound(state.MIXED),
    )
    return Asked(Slo(ttft_ms=ttft_ms, tpot_ms=tpot_ms), int(hold_steps), mixed)


def _name(chosen: Chosen, asked: Asked) -> str:
    row = chosen.opened.row
    return f"{row.benchmark_id} {row.finished} {chosen.family.label} {asked.slo} {asked.mixed}"


def _table(chosen: Chosen, asked: Asked) -> PolicyTable:
    return _computed(chosen.opened, chosen.family, asked, _name(chosen, asked))


@st.cache_resource(max_entries=KEPT, show_spinner="Comparing the Ks")
def _computed(_opened: Opened, _family: Family, _asked: Asked, name: str) -> PolicyTable:
    samples = _opened.samples()
    if _asked.mixed:
        samples = at_any_temperature(samples)
    return policy_table(_family, samples, Objective(_asked.slo))

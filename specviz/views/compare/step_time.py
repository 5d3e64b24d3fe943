"""The section of the Compare page that says where the time of each run's steps goes."""

from __future__ import annotations

import streamlit as st

from specviz.analysis.step_time.arms import ArmTime
from specviz.analysis.step_time.samples import mean_step_of, tpot_of
from specviz.analysis.step_time.step_time import StepTime, mean_step
from specviz.store import Store
from specviz.store.runs.step_totals import MOST_REQUESTS, read_step_totals
from specviz.views.compare.opened import Compared, RunArm
from specviz.views.step_time import show_step_times

KEPT = 32
WHOSE = (
    "Means over all requests of each run, on its own prompts; of a traced run over its first "
    f"{MOST_REQUESTS}, and the time that tracing takes is part of everything else. *Paired "
    "differences* shows whether a difference is more than noise."
)


def step_time(compared: Compared) -> None:
    """The mean step after the first of each run, and why it is slower or faster."""
    runs = compared.runs()
    if not runs:
        st.info("None of these was recorded here: other tools report no times of steps.")
        return
    if others := [arm.name for arm, _ in compared.elsewhere()]:
        st.text(f"Measured elsewhere, without times of steps: {', '.join(others)}.")
    show_step_times([_arm_time(compared.store, arm) for arm in runs], WHOSE)


def _arm_time(store: Store, arm: RunArm) -> ArmTime:
    finished = arm.finished
    drafts = finished["num_drafts"].sum()
    length = 1 + finished["num_accepted_tokens"].sum() / drafts if drafts else None
    found = _traced(store, arm.key, len(finished)) if arm.row.has_steps else mean_step_of(finished)
    return ArmTime(arm.name, arm.config, found, tpot_of(finished), length)


@st.cache_data(max_entries=KEPT, show_spinner="Reading the steps")
def _traced(_store: Store, run_id: str, finished: int) -> StepTime | None:
    """As long as no request ends, it stays as it is."""
    return mean_step(_store.read(read_step_totals, run_id).values())

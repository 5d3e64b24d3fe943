"""The sections of the Compare page that hold figures: acceptance, differences, configuration."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from specviz.analysis.compare.config_diff import Field, config_diff, facts_of_runs
from specviz.analysis.compare.paired import FIGURES, Change, changes, shared_prompts
from specviz.analysis.compare.positions import PositionRate, rates_by_position
from specviz.analysis.compare.reasons import not_for_times, to_mind
from specviz.analysis.text import counted
from specviz.store.history.comparison import ComparedToolResult
from specviz.views.compare import tables
from specviz.views.compare.figures.changes import ChangeDot, paired_changes
from specviz.views.compare.figures.positions import PositionLine, acceptance_by_position
from specviz.views.compare.opened import Compared, RunArm
from specviz.views.shared import pages
from specviz.views.shared.charts import TOOLBAR
from specviz.views.shared.tables import show_figures
from specviz.views.shared.text import escaped

KEPT = 32
CHANCE = (
    "Figures are ratios of totals over the shared prompts, so long answers weigh more; 95 % "
    "intervals are over prompts, or blocks of prompts that ran together. Without any real change "
    "about one comparison in twenty of arms that took turns falls outside of its interval by "
    "chance; of runs at different times more do, because the machine drifts in between. E2E counts "
    "prompts whose answers are equally long in both."
)


def positions(compared: Compared) -> None:
    """Unconditional acceptance by position, overlaid."""
    runs = [arm for arm in compared.runs() if (arm.finished["num_drafts"] > 0).any()]
    keys = shared_prompts([arm.finished for arm in runs])
    lines = [PositionLine(arm.name, arm.colour, tuple(_rates(arm, tuple(keys)))) for arm in runs]
    lines += [
        PositionLine(arm.name, arm.colour, _reported_rates(row))
        for arm, row in compared.elsewhere()
    ]
    lines = [line for line in lines if line.rates]
    drafting = {line.name for line in lines}
    if blank := [arm.name for arm in compared.arms if arm.name not in drafting]:
        st.text(f"Nothing drafted, or not reported by position: {', '.join(blank)}.")
    if not lines:
        st.info("None of these reports at which position its drafts were accepted.")
        return
    st.plotly_chart(acceptance_by_position(lines), config=TOOLBAR, key="compare-positions")
    whose = (
        f"On the {counted(len(keys), 'prompt')} that all of these runs answered."
        if keys
        else "Each run on its own prompts: they share none, so prompts may explain what differs."
    )
    st.caption(
        f"{whose} Accepted at the position / steps that drafted (unconditional); the 95 % "
        "intervals are over prompts and need five of them; results from elsewhere have none."
    )
    show_figures(tables.position_table(lines), words={"run"})


def differences(compared: Compared) -> None:
    """Changes from the reference on the same prompts, and which of them are within noise."""
    runs = compared.runs()
    if len(runs) > 1 and compared.arms[0].key == runs[0].key:
        _paired(runs[0], runs[1:])
    else:
        st.info(
            "The reference was measured elsewhere, without the single prompts: choose a run as the "
            "reference to compare prompt by prompt."
            if len(runs) > 1
            else "Only one of these was recorded here: there are no pairs of answers to compare."
        )
    st.markdown("**Each on all its own requests**")
    show_figures(tables.own_table(runs, compared.elsewhere()), words={"run", "source"})
    if compared.elsewhere():
        st.caption(
            "Measured elsewhere: aggregates as the other tool gave them, on its own prompts."
        )


def configuration(compared: Compared) -> None:
    """Different settings, then equal ones."""
    runs = compared.runs()
    facts = dict(
        zip([arm.key for arm in runs], facts_of_runs([a.config for a in runs]), strict=True)
    )
    facts_of_arms = [
        tables.facts_of_elsewhere(arm.row)
        if isinstance(arm.row, ComparedToolResult)
        else facts[arm.key] | tables.more_facts(arm.row)
        for arm in compared.arms
    ]
    diff = config_diff(facts_of_arms)
    names = [arm.name for arm in compared.arms]
    st.markdown(f"**{counted(len(diff.differing), 'difference')}**")
    _show_fields([*tables.identity(compared.arms), *diff.differing], names)
    if diff.same:
        with st.expander(f"{counted(len(diff.same), 'field')}, the same in all"):
            _show_fields(diff.same, names)
    with st.container(horizontal=True):
        for arm in runs:
            benchmark = arm.row.benchmark is not None
            pages.link(
                pages.BENCHMARK if benchmark else pages.RUNS,
                f"Open {tables.as_label(arm.name)}",
                icon=":material/open_in_new:",
                parameters={"benchmark": arm.row.run.group_id} if benchmark else {"run": arm.key},
            )


def _show_fields(fields: Sequence[Field], names: Sequence[str]) -> None:
    table = tables.field_table(fields, names)
    show_figures(table, words={*table.columns})


def _paired(reference: RunArm, others: Sequence[RunArm]) -> None:
    found = {arm.name: _changes(reference, arm) for arm in others}
    against = {arm.name: not_for_times(reference.config, arm.config) for arm in others}
    _show_caveats(reference, others, against)
    if without := [name for name, own in found.items() if not own]:
        st.text(f"No finished answer to a prompt of the reference: {', '.join(without)}.")
    dots = [
        ChangeDot(arm.name, arm.colour, change)
        for arm in others
        for change in found[arm.name]
        if not (change.figure.is_time and against[arm.name])
    ]
    if not any(found.values()):
        return
    if any(dot.change.ratio for dot in dots):
        st.markdown("**Change against the reference, on the same prompts**")
        st.plotly_chart(paired_changes(dots), config=TOOLBAR, key="compare-changes")
        st.caption("Hollow: within noise, or without an interval. " + CHANCE)
    show_figures(tables.change_table(found, against), words={"run", "figure", "verdict"})
    for figure in FIGURES:
        compared_names = {
            name for name, own in found.items() if figure in [one.figure for one in own]
        }
        if blank := [name for name, own in found.items() if own and name not in compared_names]:
            st.caption(
                escaped(
                    f"{figure.name} is not compared with {', '.join(blank)}: that run or the "
                    "reference has no such figure on a shared prompt."
                )
            )
    if any(change.prompts == 1 for own in found.values() for change in own):
        st.caption("One shared prompt has no interval: whether a difference is noise is not known.")


def _show_caveats(
    reference: RunArm, others: Sequence[RunArm], against: dict[str, list[str]]
) -> None:
    minded: dict[str, list[str]] = {}
    for arm in others:
        if against[arm.name]:
            with st.container(border=True):
                st.text(f"{arm.name}: times are not comparable: {'; '.join(against[arm.name])}.")
        together = reference.row.run.group_id == arm.row.run.group_id
        side_by_side = together and arm.row.benchmark is not None
        for note in to_mind(reference.config, arm.config, side_by_side=side_by_side):
            minded.setdefault(note, []).append(arm.name)
    for note, names in minded.items():
        st.caption(escaped(f"{', '.join(names)}: {note}."))


def _reported_rates(row: ComparedToolResult) -> tuple[PositionRate, ...]:
    rates = enumerate(row.acceptance_rate_per_pos, start=1)
    return tuple(PositionRate(position, rate) for position, rate in rates)


def _changes(reference: RunArm, other: RunArm) -> list[Change]:
    return _cached_changes(_state(reference), _state(other), reference.finished, other.finished)


def _rates(arm: RunArm, keys: tuple[str, ...]) -> list[PositionRate]:
    requests = arm.finished
    if keys:
        requests = requests[requests["prompt_key"].isin(keys)]
    return _cached_rates(_state(arm), keys, requests)


def _state(arm: RunArm) -> tuple[str, int]:
    return arm.key, len(arm.finished)


@st.cache_data(max_entries=KEPT, show_spinner="Comparing the prompts")
def _cached_changes(
    reference: tuple[str, int],
    other: tuple[str, int],
    _requests: pd.DataFrame,
    _other_requests: pd.DataFrame,
) -> list[Change]:
    return changes(_requests, _other_requests)


@st.cache_data(max_entries=KEPT, show_spinner=False)
def _cached_rates(
    arm: tuple[str, int], keys: tuple[str, ...], _requests: pd.DataFrame
) -> list[PositionRate]:
    return rates_by_position(_requests)

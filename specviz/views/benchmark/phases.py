"""The section of a benchmark whose load changed: figures by phase, arms against each other."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from specviz.analysis.benchmark.phases.figures import Estimate, Gain, PhaseFigures
from specviz.analysis.benchmark.phases.lines import WORDS
from specviz.analysis.benchmark.results import ArmState
from specviz.analysis.text import digits
from specviz.figures.arms import arm_colours
from specviz.methods import Method
from specviz.views.benchmark.figures.phases import PhaseLine, by_phase
from specviz.views.benchmark.show import choose
from specviz.views.shared.benchmark.results import Opened
from specviz.views.shared.charts import chart
from specviz.views.shared.tables import csv_button, show_table

CHARTS = {
    "request_goodput": ("Goodput by phase", "goodput, requests/s"),
    "tpot_ms": ("Time per output token (TPOT) by phase", "TPOT, ms"),
}


def phases(opened: Opened) -> None:
    """Every arm in each phase of a load that changed."""
    found = opened.results.phases
    if not found:
        st.info("No pass is finished yet, or this plan has no [[traffic]]: its loads are steady.")
        return
    arms = opened.results.arms
    with st.container(horizontal=True):
        traffic = choose("Traffic", list(dict.fromkeys(one.traffic for one in found)), str, "ph")
        mine = [one for one in found if one.traffic == traffic]
        wanted = sorted({one.temperature for one in mine}, key=lambda t: -1.0 if t is None else t)
        temperature = choose("Temperature", wanted, _temperature, "phases")
        against = choose("Compared with", _references(arms, mine), lambda a: a.arm, "phases")
    mine = [one for one in mine if one.temperature == temperature]
    show_table(phase_table(mine, against).dropna(axis="columns", how="all"))
    csv_button(in_full(mine), "phases", "Phases as CSV, in full")
    st.caption(WORDS)
    for figure, (title, axis) in CHARTS.items():
        if lines := phase_lines(arms, mine, figure):
            chart(by_phase(lines, axis), title, f"phases-{figure}")


def phase_table(found: Sequence[PhaseFigures], against: ArmState | None) -> pd.DataFrame:
    """One line per phase and arm, the whole traffic first."""
    lines = []
    for one in sorted(found, key=lambda one: -1 if one.phase is None else one.phase):
        versus = None if against is None else one.versus(against.arm_index)
        lines.append(
            {
                "phase": one.title,
                "arm": one.arm,
                "goodput 1/s": _text(one.request_goodput),
                "goodput gain": _gain(None if versus is None else versus.request_goodput),
                "TPOT ms": _text(one.tpot_ms),
                "TPOT gain": _gain(None if versus is None else versus.tpot_ms),
                "TTFT ms": _text(one.ttft_ms),
                "acceptance rate": _text(one.draft_acceptance_rate),
                "drafted": None if one.num_draft_tokens is None else f"{one.num_draft_tokens:,}",
                "tok/s": _text(one.output_throughput),
                "requests": f"{one.requests:,}",
                "failed": f"{one.failed:,}" if one.failed else None,
                "passes": f"{one.passes}",
                "seconds": digits(one.seconds),
            }
        )
    return pd.DataFrame(lines)


def phase_lines(
    arms: Sequence[ArmState], found: Sequence[PhaseFigures], figure: str
) -> list[PhaseLine]:
    """A figure of every arm by phase; arms without it are left out."""
    colours = arm_colours(arms)
    lines = []
    for arm in arms:
        mine = [one for one in found if one.arm_index == arm.arm_index and one.phase is not None]
        points = {one.title: estimate for one in mine if (estimate := getattr(one, figure))}
        if points:
            is_baseline = arm.method == Method.BASELINE
            lines.append(PhaseLine(arm.arm, colours[arm.arm_index], is_baseline, points))
    return lines


def in_full(found: Sequence[PhaseFigures]) -> pd.DataFrame:
    """One line per phase and arm with all its figures, for a file."""
    names = ("request_goodput", "output_throughput", "ttft_ms", "tpot_ms", "draft_acceptance_rate")
    plain = ("traffic", "phase", "load", "temperature", "arm", "passes", "requests", "failed")
    lines = []
    for one in found:
        line = {name: getattr(one, name) for name in (*plain, "seconds", "num_draft_tokens")}
        for name in names:
            estimate: Estimate | None = getattr(one, name)
            line |= {
                name: estimate and estimate.value,
                f"{name}_low": estimate and estimate.low,
                f"{name}_high": estimate and estimate.high,
            }
        lines.append(line)
    return pd.DataFrame(lines)


def _references(arms: Sequence[ArmState], found: Sequence[PhaseFigures]) -> list[ArmState]:
    """The arms that others are compared with, baselines first."""
    known = {other.against for one in found for other in one.compared}
    shown = [arm for arm in arms if arm.arm_index in known]
    return sorted(shown, key=lambda arm: arm.method != Method.BASELINE)


def _temperature(value: float | None) -> str:
    return "all" if value is None else f"{value:g}"


def _text(estimate: Estimate | None) -> str | None:
    return None if estimate is None else estimate.text


def _gain(gain: Gain | None) -> str | None:
    return None if gain is None else gain.text

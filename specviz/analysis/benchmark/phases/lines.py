"""Phases as lines of text, from the document that `specviz bench --json` prints."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from specviz.analysis.benchmark.phases.figures import Estimate, Gain, phase_title
from specviz.analysis.text import digits
from specviz.methods import Method

Document = Mapping[str, Any]

FIGURES = {
    "goodput 1/s": "request_goodput",
    "TPOT ms": "tpot_ms",
    "TTFT ms": "ttft_ms",
    "acceptance": "draft_acceptance_rate",
    "tok/s": "output_throughput",
}
GAINS = {"goodput gain": "request_goodput", "TPOT gain": "tpot_ms"}
WORDS = (
    "Goodput: requests that ended in the phase and met every SLO, per second of it. TTFT, TPOT and "
    "acceptance are those of the requests sent in it. Intervals are 95 % over passes. "
    "Gains: above 1 the arm is better than the one it is compared with, in the same passes."
)

COLUMNS = ("phase", "arm", *FIGURES, *GAINS)


def phases_by_traffic(results: Document) -> dict[str, list[Document]]:
    """The phases of each traffic, all temperatures together."""
    found = [one for one in results["phases"] if one["temperature"] is None]
    names = dict.fromkeys(one["traffic"] for one in found)
    return {name: [one for one in found if one["traffic"] == name] for name in names}


def phase_line(one: Document, results: Document, *, intervals: bool) -> tuple[str | None, ...]:
    """One phase of one arm under `COLUMNS`, gains over plain decoding.

    `intervals`: also of figures; gains always have theirs.
    """
    phase = phase_title(one["phase"], one["load"])
    return (phase, one["arm"], *_figures(one, intervals), *_gains(one, results))


def _figures(one: Document, intervals: bool) -> list[str | None]:
    estimates = [Estimate(**one[name]) if one[name] else None for name in FIGURES.values()]
    if intervals:
        return [found.text if found else None for found in estimates]
    return [digits(found.value) if found else None for found in estimates]


def _gains(one: Document, results: Document) -> list[str | None]:
    baselines = {
        arm["arm_index"] for arm in results["arms"] if arm["method"] == Method.BASELINE.value
    }
    return [gain_over(one, baselines, name) for name in GAINS.values()]


def gain_over(one: Document, others: Container[int], name: str) -> str | None:
    """`1.27× (1.11 to 1.45)`: a figure of `GAINS` over the first of the `others` that the arm was
    compared with; None where there is none, or the figure is not known."""
    versus: Document = next((arm for arm in one["compared"] if arm["against"] in others), {})
    return Gain(**versus[name]).text if versus.get(name) else None

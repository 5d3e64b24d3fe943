"""How far a prediction is off by its method, beyond what prompts differ by.

Learnt from exact redrafts and measured sweeps of small models, on kinds of text apart
(`python -m benchmarks.k_prediction_error`), and kept in `data/k_prediction_error.json`. Kinds of
text are off in either direction, so that errors widen intervals and move no figure.
"""

from __future__ import annotations

import json
from functools import cache
from math import hypot, sqrt
from typing import TypedDict

from specviz.paths import DATA

LEARNT = DATA / "k_prediction_error.json"


def steps_error(ratio: float, prompts: int) -> float:
    """Standard error of log(steps), where the run's steps are cut short to `ratio` of its K.

    One part is of the kind of text and stays, the other is of each answer and averages out over
    `prompts`. 0 at the run's own K.
    """
    if ratio >= 1:
        return 0.0
    found = _at(learnt()["steps"], ratio)
    return hypot(found["kind"], found["answer"] / sqrt(prompts))


def time_error(ratio: float, *, one_k: bool) -> float:
    """Standard error of log(time), where step times of the run are moved to `ratio` of its K;
    `one_k`: along a line through plain decoding (`step_cost.StepCost`)."""
    if ratio >= 1:
        return 0.0
    return _at(learnt()["line"], ratio)["error"] if one_k else learnt()["time"]


def _at(ranges: list[dict[str, float]], ratio: float) -> dict[str, float]:
    """Of the first range of K over the run's K that `ratio` is in."""
    return next(one for one in ranges if ratio <= one["up_to"])


class Learnt(TypedDict):
    """By range of K over the run's K: `steps` with `up_to`, `kind`, `answer`, and `line` with
    `up_to`, `error`."""

    time: float
    line: list[dict[str, float]]
    steps: list[dict[str, float]]


@cache
def learnt() -> Learnt:
    """What is shipped."""
    found: Learnt = json.loads(LEARNT.read_text("utf-8"))
    return found

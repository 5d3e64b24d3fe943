"""What has been paid by each day: with trainings, and without speculation."""

from __future__ import annotations

import math
from dataclasses import dataclass

from specviz.analysis.cost.answer import Question, answer

YEAR_DAYS = 365.0
SHORTEST_DAYS, LONGEST_DAYS = 1.0, 3 * YEAR_DAYS
MOST_STEPS = 400
"""Retrainings drawn; more would be a line of steps narrower than its own width."""


@dataclass(frozen=True, slots=True)
class Paid:
    """Dollars paid by a day, counted from the start."""

    day: float
    baseline_usd: float
    method_usd: float


def course(question: Question, days: float) -> tuple[Paid, ...]:
    """Straight lines between the points; a retraining is two points on one day."""
    found = answer(question)
    training, traffic = question.training, question.requests_per_day
    period = training.period_days

    def paid(day: float, trainings: int) -> Paid:
        requests = traffic * day
        usd = requests * found.per_request.value + trainings * training.usd
        return Paid(day, requests * found.baseline_per_request, usd)

    points = [paid(0.0, 0), paid(0.0, 1)]
    steps = 0 if period is None else min(MOST_STEPS, math.floor(days / period))
    for step in range(1, steps + 1):
        assert period is not None
        points += [paid(step * period, step), paid(step * period, step + 1)]
    if steps < MOST_STEPS:
        points.append(paid(days, steps + 1))
    return tuple(points)


def horizon_days(question: Question) -> float:
    """Long enough to see the payback; a year of it where there is none."""
    found = answer(question).payback
    wanted = YEAR_DAYS if not found.days else 3 * found.days
    return min(max(wanted, SHORTEST_DAYS), LONGEST_DAYS)

"""Which input moves the saving most: each changed alone, the others as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from specviz.analysis.cost.answer import Question, answer
from specviz.analysis.cost.interval import Interval

SHARE = 0.2
"""How far an input without an interval is changed, down and up."""


@dataclass(frozen=True, slots=True)
class Swing:
    """Saving in $ per month with one input at its low and at its high end.

    `by_interval`: the ends are the input's 95 % interval, otherwise 20 % below and above.
    """

    name: str
    low_input: float
    high_input: float
    saving_at_low: float
    saving_at_high: float
    by_interval: bool

    @property
    def width(self) -> float:
        return abs(self.saving_at_high - self.saving_at_low)


def swings(question: Question) -> tuple[Swing, ...]:
    """One per input that is not 0, the widest first."""
    q, training = question, question.training
    found = [
        _swing("$ per hour", Interval(q.usd_per_hour), lambda x: replace(q, usd_per_hour=x)),
        _swing(
            "traffic, requests/day",
            Interval(q.requests_per_day),
            lambda x: replace(q, requests_per_day=x),
        ),
        _swing(
            "requests/h, baseline",
            q.baseline.requests_per_hour,
            lambda x: replace(q, baseline=replace(q.baseline, requests_per_hour=Interval(x))),
        ),
        _swing(
            "requests/h, with speculation",
            q.method.requests_per_hour,
            lambda x: replace(q, method=replace(q.method, requests_per_hour=Interval(x))),
        ),
    ]
    if training.usd_per_month:  # training that is paid once is not in the monthly saving
        found += [
            _swing(
                "cost of one training, $",
                Interval(training.usd),
                lambda x: replace(q, training=replace(training, usd=x)),
            ),
            _swing(
                "target updates per year",
                Interval(training.updates_per_year),
                lambda x: replace(q, training=replace(training, updates_per_year=x)),
            ),
        ]
    return tuple(sorted(found, key=lambda swing: swing.width, reverse=True))


def _swing(name: str, figure: Interval, changed: Callable[[float], Question]) -> Swing:
    low = figure.value * (1 - SHARE) if figure.low is None else figure.low
    high = figure.value * (1 + SHARE) if figure.high is None else figure.high
    at_low, at_high = (answer(changed(end)).saving_per_month.value for end in (low, high))
    return Swing(name, low, high, at_low, at_high, figure.is_known)

"""From hardware, requests per hour and traffic to what speculation saves."""

from __future__ import annotations

from dataclasses import dataclass, field

from specviz.analysis.cost.interval import Interval
from specviz.analysis.cost.payback import (
    DAYS_PER_YEAR,
    MONTHS_PER_YEAR,
    Payback,
    Training,
    payback,
)
from specviz.analysis.cost.request import cost_per_million_tokens, cost_per_request
from specviz.analysis.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Served:
    """What the hardware gets done one way: requests per hour, output tokens per second.

    `output_throughput` is None where it is not known.
    """

    requests_per_hour: Interval
    output_throughput: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """`usd_per_hour` of all the hardware; traffic in requests per day.

    GPU hours are taken to follow the traffic: what is paid is cost per request times requests.
    """

    usd_per_hour: float
    baseline: Served
    method: Served
    requests_per_day: float
    training: Training = field(default_factory=Training)


@dataclass(frozen=True, slots=True)
class Answer:
    """Dollars. `saving_share` is of the baseline's cost per request; a loss is negative.

    `saving_per_month` is after retraining, without the first training. Intervals are those of the
    method's requests per hour, carried through; `payback_best` and `payback_worst` at their ends,
    None where there is no interval. Per million tokens: None where throughput is not known.
    """

    baseline_per_request: float
    per_request: Interval
    baseline_per_million_tokens: float | None
    per_million_tokens: Interval | None
    saving_per_request: Interval
    saving_share: Interval
    saving_per_month: Interval
    payback: Payback
    payback_best: Payback | None
    payback_worst: Payback | None

    @property
    def verdict(self) -> Verdict | None:
        """Whether serving is faster, and so cheaper; None without an interval."""
        return verdict_of_saving(self.saving_share)


def answer(question: Question) -> Answer:
    """Raises UsageError for a price, a rate or traffic that is not above 0."""
    price, rate = question.usd_per_hour, question.method.requests_per_hour
    baseline = cost_per_request(price, question.baseline.requests_per_hour.value)
    per_request = rate.through(lambda each: cost_per_request(price, each))
    saving = per_request.through(lambda cost: baseline - cost)
    return Answer(
        baseline_per_request=baseline,
        per_request=per_request,
        baseline_per_million_tokens=_per_million(price, question.baseline),
        per_million_tokens=_per_million_with(price, question.method),
        saving_per_request=saving,
        saving_share=saving_share(question.baseline, question.method),
        saving_per_month=saving.through(lambda usd: monthly(usd, question)),
        payback=_payback(saving.value, question),
        payback_best=None if saving.high is None else _payback(saving.high, question),
        payback_worst=None if saving.low is None else _payback(saving.low, question),
    )


def verdict_of_saving(saving: Interval) -> Verdict | None:
    """What a saving's interval says; None without one."""
    if saving.low is None or saving.high is None:
        return None
    if saving.low > 0:
        return Verdict.FASTER
    return Verdict.SLOWER if saving.high < 0 else Verdict.UNDECIDED


def saving_share(baseline: Served, method: Served) -> Interval:
    """Of the baseline's cost per request, whatever an hour of the hardware costs."""
    plain = baseline.requests_per_hour.value
    return method.requests_per_hour.through(lambda rate: 1 - plain / rate)


def monthly(saving_per_request: float, question: Question) -> float:
    """$ per month of 365 / 12 days, after retraining."""
    requests = question.requests_per_day * DAYS_PER_YEAR / MONTHS_PER_YEAR
    return saving_per_request * requests - question.training.usd_per_month


def _payback(saving_per_request: float, question: Question) -> Payback:
    return payback(saving_per_request, question.requests_per_day, question.training)


def _per_million(price: float, served: Served) -> float | None:
    tok_s = served.output_throughput
    return None if tok_s is None else cost_per_million_tokens(price, tok_s)


def _per_million_with(price: float, served: Served) -> Interval | None:
    """With the relative interval of the requests per hour: both count the same work."""
    if served.output_throughput is None:
        return None
    tokens = served.output_throughput / served.requests_per_hour.value
    return served.requests_per_hour.through(
        lambda each: cost_per_million_tokens(price, each * tokens)
    )

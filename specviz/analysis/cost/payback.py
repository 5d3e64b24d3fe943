"""When training a draft has paid for itself, where it is paid again at every target update."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from specviz.analysis.text import digits
from specviz.errors import UsageError

DAYS_PER_YEAR = 365.0
MONTHS_PER_YEAR = 12.0


@dataclass(frozen=True, slots=True)
class Training:
    """`usd`: of one training. `updates_per_year` of the target, each with a new training where
    the method `retrains`; the first comes a full period after the start."""

    usd: float = 0.0
    updates_per_year: float = 0.0
    retrains: bool = False

    def __post_init__(self) -> None:
        """Raises UsageError for a negative cost or rate."""
        if not 0 <= self.usd < math.inf:
            raise UsageError(f"The cost of training is 0 $ or more, not {self.usd:g}.")
        if not 0 <= self.updates_per_year < math.inf:
            raise UsageError(f"Updates per year are 0 or more, not {self.updates_per_year:g}.")

    @property
    def period_days(self) -> float | None:
        """Days between two trainings; None: it is trained once."""
        if not self.retrains or not self.updates_per_year:
            return None
        return DAYS_PER_YEAR / self.updates_per_year

    @property
    def usd_per_month(self) -> float:
        """Retraining in the long run; the first training is paid once and not in it."""
        period = self.period_days
        return 0.0 if period is None else self.usd * DAYS_PER_YEAR / period / MONTHS_PER_YEAR


class Outcome(StrEnum):
    """How the training ends up."""

    NOTHING_TO_PAY = "nothing to pay back"
    PAID_BACK = "paid back"
    NO_SAVING = "never: it saves nothing per request"
    RETRAINED_FIRST = "never: the next retraining comes first"


@dataclass(frozen=True, slots=True)
class Payback:
    """Requests and days until the savings equal the training; None where they never do."""

    outcome: Outcome
    requests: float | None = None
    days: float | None = None

    @property
    def text(self) -> str:
        """`84,000 requests, 1.7 days`, or why there is no payback."""
        if not self.requests or self.days is None:
            return self.outcome.value
        return f"{math.ceil(self.requests):,} requests, {digits(self.days)} days"


def payback(usd_per_request: float, requests_per_day: float, training: Training) -> Payback:
    """When a saving of `usd_per_request` has paid one training.

    Between two trainings the same amount is earned each time, so that what is not paid back
    before the first retraining never is. Raises UsageError for traffic that is not above 0.
    """
    if not 0 < requests_per_day < math.inf:
        raise UsageError(f"Traffic is above 0 requests per day, not {requests_per_day:g}.")
    if usd_per_request <= 0:
        return Payback(Outcome.NO_SAVING)
    if training.usd == 0:
        return Payback(Outcome.NOTHING_TO_PAY, 0.0, 0.0)
    requests = training.usd / usd_per_request
    days = requests / requests_per_day
    if math.isinf(requests) or math.isinf(days):  # a saving that only rounding has left
        return Payback(Outcome.NO_SAVING)
    if training.period_days is not None and days > training.period_days:
        return Payback(Outcome.RETRAINED_FIRST)
    return Payback(Outcome.PAID_BACK, requests, days)

"""Payback against a simulation of the days, with trainings paid again at target updates."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specviz.analysis.cost.answer import Question, Served
from specviz.analysis.cost.course import course, horizon_days
from specviz.analysis.cost.interval import Interval
from specviz.analysis.cost.payback import Outcome, Training, payback
from specviz.errors import UsageError

DAYS = 3000


def first_day_in_the_black(saving: float, traffic: float, training: Training) -> int | None:
    """Day by day: what was saved so far against what was paid so far."""
    balance, period = -training.usd, training.period_days
    trainings = 1
    for day in range(1, DAYS):
        balance += saving * traffic
        if balance >= 0:
            return day
        if period is not None and day >= trainings * period:
            balance -= training.usd
            trainings += 1
    return None


@given(
    saving=st.floats(-0.01, 0.01),
    traffic=st.integers(1, 100_000),
    usd=st.integers(1, 2000),
    period=st.sampled_from([None, 5, 73, 365]),
)
def test_payback_is_the_day_on_which_a_simulation_is_in_the_black(
    saving: float, traffic: int, usd: int, period: int | None
) -> None:
    training = Training(float(usd), 0 if period is None else 365 / period, period is not None)
    found = payback(saving, traffic, training)
    assume(found.days is None or abs(found.days - round(found.days)) > 1e-6)
    assume(found.days is None or found.days < DAYS - 1)
    simulated = first_day_in_the_black(saving, traffic, training)
    if found.days is None:
        assert simulated is None
    elif period is None or found.days + 1 <= period:
        assert simulated is not None and simulated - 1 < found.days <= simulated
    else:  # within the last day before a retraining a simulation by days is too coarse
        assert found.days <= period


@pytest.mark.parametrize(
    ("saving", "training", "outcome"),
    [
        (0.01, Training(100.0), Outcome.PAID_BACK),
        (0.0, Training(100.0), Outcome.NO_SAVING),
        (-0.01, Training(0.0), Outcome.NO_SAVING),
        (1e-311, Training(1.0), Outcome.NO_SAVING),
        (0.01, Training(0.0, 4, retrains=True), Outcome.NOTHING_TO_PAY),
        (0.01, Training(1000.0, 4, retrains=True), Outcome.RETRAINED_FIRST),
        (0.01, Training(1000.0, 4, retrains=False), Outcome.PAID_BACK),
        (0.01, Training(912.5, 4, retrains=True), Outcome.PAID_BACK),  # to the day
    ],
)
def test_how_training_ends_up(saving: float, training: Training, outcome: Outcome) -> None:
    found = payback(saving, 1000, training)
    assert found.outcome is outcome
    assert (found.days is None) == outcome.value.startswith("never")


def test_the_text_names_requests_and_days_or_the_reason() -> None:
    assert payback(0.01, 1000, Training(200.0)).text == "20,000 requests, 20.0 days"
    assert "never" in payback(-1, 1000, Training(200.0)).text
    assert payback(1, 1000, Training()).text == "nothing to pay back"


@pytest.mark.parametrize("traffic", [0, -1, float("inf")])
def test_traffic_is_above_0(traffic: float) -> None:
    with pytest.raises(UsageError, match="requests per day"):
        payback(0.1, traffic, Training(1.0))


@pytest.mark.parametrize("wrong", [{"usd": -1.0}, {"updates_per_year": -1.0}])
def test_training_is_not_negative(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="0"):
        Training(**wrong)


def question(usd: float = 200.0, updates: float = 4) -> Question:
    served = Served(Interval(7680)), Served(Interval(3200))
    training = Training(usd, updates, retrains=True)
    return Question(13.04, served[1], served[0], 1000.0, training)


def test_the_course_steps_at_every_training_and_meets_the_baseline_at_the_payback() -> None:
    found = payback(13.04 / 3200 - 13.04 / 7680, 1000, Training(200.0, 4, retrains=True))
    assert found.days is not None
    points = course(question(), 400.0)
    jumps = [pair for pair in pairwise(points) if pair[0].day == pair[1].day]
    steps = [after.method_usd - before.method_usd for before, after in jumps]
    assert steps == pytest.approx([200.0] * 5)  # at the start and on days 91.25 to 365
    upto = course(question(), found.days)[-1]
    assert upto.method_usd == pytest.approx(upto.baseline_usd)
    assert points[-1].baseline_usd == pytest.approx(400_000 * 13.04 / 3200)


def test_the_horizon_shows_the_payback_or_a_year() -> None:
    assert horizon_days(question()) == pytest.approx(3 * 200 / (13.04 / 3200 - 13.04 / 7680) / 1e3)
    assert horizon_days(question(usd=1e6)) == 365.0

"""The line through step times: what it goes through, what it leaves out, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.k.step_cost import StepCost, fit_step_cost
from specviz.errors import UsageError

ks = st.lists(st.integers(1, 32), min_size=2, max_size=8, unique=True)


@given(ks, st.floats(1.0, 100.0), st.floats(0.0, 10.0), st.none() | st.floats(1.0, 100.0))
def test_a_line_comes_back_whatever_plain_decoding_costs(
    drafted: list[int], fixed: float, per_token: float, plain: float | None
) -> None:
    points = {float(k): fixed + per_token * k for k in drafted}
    reported = points if plain is None else {**points, 0.0: plain}
    cost = fit_step_cost(reported, "made up")
    assert cost.fixed_ms == pytest.approx(fixed, abs=1e-6)
    assert cost.per_token_ms == pytest.approx(per_token, abs=1e-6)
    assert (cost.plain_ms, cost.basis) == (plain, "made up")
    for k, ms in points.items():
        assert cost.at(k) == pytest.approx(ms, abs=1e-6)


def test_three_points_off_a_line_are_fitted_by_least_squares() -> None:
    """(1, 12), (3, 14), (5, 22): slope 20 / 8, mean (3, 16)."""
    cost = fit_step_cost({0.0: 1.0, 1.0: 12.0, 3.0: 14.0, 5.0: 22.0}, "made up")
    assert (cost.per_token_ms, cost.fixed_ms) == (pytest.approx(2.5), pytest.approx(8.5))


def test_plain_decoding_is_on_the_line_only_where_it_must_be() -> None:
    cost = fit_step_cost({0.0: 10.0, 5.0: 20.0}, "two points")
    assert cost == StepCost(pytest.approx(10.0), pytest.approx(2.0), 10.0, "two points", one_k=True)  # type: ignore[arg-type]
    two = fit_step_cost({0.0: 10.0, 5.0: 20.0, 10.0: 30.0}, "")
    assert two.per_token_ms == pytest.approx(2) and not two.one_k


def test_many_steps_are_told_at_once() -> None:
    cost = StepCost(8.0, 2.0, None, "made up")
    assert cost.at(np.array([0.0, 1.5, 4.0])).tolist() == [8.0, 11.0, 16.0]


@pytest.mark.parametrize(
    ("per_token", "share"), [(2.0, 0.25), (0.0, 0.0), (-0.5, 0.0), (16.0, 2.0)]
)
def test_the_share_of_a_plain_step_is_never_negative(per_token: float, share: float) -> None:
    assert StepCost(8.0, per_token, None, "made up").share(8.0) == share


@pytest.mark.parametrize("points", [{}, {0.0: 10.0}, {5.0: 12.0}])
def test_one_point_is_no_line(points: dict[float, float]) -> None:
    with pytest.raises(UsageError, match="two values of K"):
        fit_step_cost(points, "made up")

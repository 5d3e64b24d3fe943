"""The formulae by hand, against the closed form, against a simulation, and as laws."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.theory.theory import (
    best_k,
    break_even_alpha,
    check,
    expected_tokens,
    expected_tokens_by_position,
    speedup,
    step_cost,
)
from specviz.config import MAX_K
from specviz.errors import UsageError

alphas = st.floats(0, 1)
ks = st.integers(0, MAX_K)
costs = st.floats(0, 3)


@pytest.mark.parametrize(
    ("alpha", "k", "tokens"),
    [
        (0.0, 0, 1.0),
        (0.0, 5, 1.0),  # never accepted: the recovered token alone
        (1.0, 0, 1.0),
        (1.0, 5, 6.0),  # all accepted, and the bonus
        (0.5, 1, 1.5),
        (0.5, 3, 1.875),  # 1 + 1/2 + 1/4 + 1/8
        (0.6, 8, 2.4748),
        (0.4, 5, 1.6598),
        (0.7, 5, 2.9412),
        (0.8, 5, 3.6893),
    ],
)
def test_tokens_per_step_by_hand(alpha: float, k: int, tokens: float) -> None:
    assert expected_tokens(alpha, k) == pytest.approx(tokens, abs=5e-5)


@pytest.mark.parametrize(
    ("alpha", "k", "cost", "gain"),
    [
        (0.5, 3, 0.0, 1.875),  # free drafts: tokens per step
        (0.5, 3, 0.25, 1.875 / 1.75),
        (0.0, 4, 0.25, 0.5),  # a step of 2 plain ones for 1 token
        (1.0, 4, 0.25, 2.5),
        (0.9, 0, 0.7, 1.0),  # nothing drafted, nothing gained or lost
    ],
)
def test_speedup_by_hand(alpha: float, k: int, cost: float, gain: float) -> None:
    assert speedup(alpha, k, cost) == pytest.approx(gain)
    assert step_cost(k, cost) == pytest.approx(1 + cost * k)


@given(st.floats(0, 0.999), ks)
def test_the_sum_is_the_closed_form(alpha: float, k: int) -> None:
    assert expected_tokens(alpha, k) == pytest.approx((1 - alpha ** (k + 1)) / (1 - alpha))


@given(alphas, ks)
def test_independent_acceptance_is_one_case_of_rates_by_position(alpha: float, k: int) -> None:
    rates = [alpha**depth for depth in range(1, k + 1)]
    assert expected_tokens_by_position(rates) == pytest.approx(expected_tokens(alpha, k))


def test_rates_by_position_are_accepted_tokens_per_draft() -> None:
    # Four drafts of 3, with 0, 1, 2 and 3 accepted: 6 of 4, and one more token each.
    assert expected_tokens_by_position([3 / 4, 2 / 4, 1 / 4]) == 2.5
    assert expected_tokens_by_position([]) == 1.0


@pytest.mark.parametrize(("alpha", "k"), [(0.3, 4), (0.8, 5), (0.95, 15)])
def test_a_simulation_agrees(alpha: float, k: int) -> None:
    rng = random.Random(f"{alpha}{k}")
    runs = 20_000
    drawn = [next((n for n in range(k) if rng.random() >= alpha), k) + 1 for _ in range(runs)]
    mean = sum(drawn) / runs
    spread = math.sqrt(sum((one - mean) ** 2 for one in drawn) / runs / runs)
    assert abs(mean - expected_tokens(alpha, k)) < 4 * spread


@given(st.tuples(alphas, alphas), ks, costs)
def test_higher_acceptance_never_costs(pair: tuple[float, float], k: int, cost: float) -> None:
    low, high = sorted(pair)
    assert expected_tokens(low, k) <= expected_tokens(high, k)
    assert speedup(low, k, cost) <= speedup(high, k, cost)
    assert 1 <= expected_tokens(low, k) <= k + 1


@given(st.integers(1, MAX_K), costs)
def test_at_the_break_even_alpha_speculation_breaks_even(k: int, cost: float) -> None:
    found = break_even_alpha(k, cost)
    if found is None:
        assert speedup(1.0, k, cost) < 1
        return
    assert 1 <= speedup(found, k, cost) == pytest.approx(1.0, abs=1e-9)
    assert found == 0.0 or speedup(found * 0.99, k, cost) < 1


def test_break_even_by_hand() -> None:
    assert break_even_alpha(1, 0.3) == pytest.approx(0.3)  # 1 + α against 1 + c
    assert break_even_alpha(2, 0.375) == pytest.approx(0.5)  # α + α² = 0.75
    assert break_even_alpha(4, 1.0) == pytest.approx(1.0)
    assert break_even_alpha(4, 1.01) is None
    assert break_even_alpha(5, 0.0) == 0.0
    assert break_even_alpha(0, 2.0) == 0.0


@given(alphas, costs, st.lists(ks, min_size=1, max_size=10))
def test_best_k_is_the_smallest_of_the_best(alpha: float, cost: float, choice: list[int]) -> None:
    found = best_k(alpha, cost, choice)
    gains = {k: speedup(alpha, k, cost) for k in choice}
    assert gains[found] == max(gains.values())
    assert all(gains[k] < gains[found] for k in choice if k < found)


def test_best_k_of_all() -> None:
    assert best_k(0.0, 0.1) == 0
    assert best_k(1.0, 0.1) == MAX_K
    assert best_k(0.8, 0.05) == 8


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: expected_tokens(1.01, 5), "alpha, .* not 1.01"),
        (lambda: expected_tokens(math.nan, 5), "alpha, .* not nan"),
        (lambda: speedup(-0.1, 5, 0.1), "alpha, .* not -0.1"),
        (lambda: step_cost(-1, 0.1), f"K is from 0 to {MAX_K}, not -1"),
        (lambda: speedup(0.5, MAX_K + 1, 0.1), f"not {MAX_K + 1}"),
        (lambda: break_even_alpha(3, -0.5), "cost of a draft token .* not -0.5"),
        (lambda: check(cost=math.inf), "cost of a draft token .* not inf"),
        (lambda: best_k(0.5, 0.1, []), "at least one K"),
    ],
)
def test_wrong_values_are_named(call, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        call()

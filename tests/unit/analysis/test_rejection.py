"""Rejection sampling: the output is the target's for any draft, and the wrong rules are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from specviz.analysis.theory.rejection import (
    MOST_DRAWS,
    Rule,
    Simulation,
    acceptance,
    is_normalised,
    normalised,
    output_probs,
    residual,
    simulate,
    total_variation,
)
from specviz.errors import UsageError

weights = st.lists(st.floats(0, 1e6) | st.just(0.0), min_size=1, max_size=12).filter(any)
pairs = st.integers(1, 12).flatmap(
    lambda size: st.tuples(
        *[st.lists(st.floats(0, 1) | st.just(0.0), min_size=size, max_size=size).filter(any)] * 2
    )
)


def distributions(pair) -> tuple[np.ndarray, np.ndarray]:
    return normalised(pair[0], "target"), normalised(pair[1], "draft")


@given(weights)
def test_weights_become_a_distribution(given_weights: list[float]) -> None:
    probs = normalised(given_weights, "it")
    assert probs.sum() == pytest.approx(1)
    assert (probs >= 0).all()
    largest = int(np.argmax(given_weights))
    assert probs[largest] == pytest.approx(
        given_weights[largest] / sum(given_weights), rel=1e-9, abs=1e-300
    )


@given(pairs)
def test_the_output_is_exactly_the_target(pair) -> None:
    target, draft = distributions(pair)
    assert output_probs(target, draft) == pytest.approx(target, abs=1e-12)


@given(pairs)
def test_acceptance_is_one_less_total_variation(pair) -> None:
    target, draft = distributions(pair)
    assert acceptance(target, draft) == pytest.approx(1 - total_variation(target, draft))
    assert 0 <= acceptance(target, draft) <= 1


@given(pairs)
def test_the_residual_never_holds_what_is_accepted_in_full(pair) -> None:
    target, draft = distributions(pair)
    left = residual(target, draft)
    if left is None:
        assert (target <= draft).all()
        return
    assert left.sum() == pytest.approx(1)
    assert (left[target <= draft] == 0).all()


def test_by_hand() -> None:
    target, draft = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    assert acceptance(target, draft) == pytest.approx(0.7)
    assert residual(target, draft) == pytest.approx([1, 0, 0])
    assert output_probs(target, draft, Rule.ALWAYS_ACCEPT) == pytest.approx(draft)
    # Accepted 0.2, 0.3, 0.2; the other 0.3 again from the target.
    assert output_probs(target, draft, Rule.TARGET_RESAMPLE) == pytest.approx([0.35, 0.39, 0.26])


@pytest.mark.parametrize("rule", Rule)
def test_a_simulation_follows_its_rule(rule: Rule) -> None:
    target = normalised([5, 3, 0, 1, 1], "target")
    draft = normalised([1, 3, 2, 0, 4], "draft")
    n = 200_000
    found = simulate(target, draft, n, seed=3)[rule]
    exact = output_probs(target, draft, rule)
    assert found.counts.sum() == n
    spread = np.sqrt(exact * (1 - exact) / n)
    assert (np.abs(found.shares - exact) <= 4.5 * spread).all()
    expected = 1.0 if rule is Rule.ALWAYS_ACCEPT else acceptance(target, draft)
    assert found.accepted / n == pytest.approx(expected, abs=0.005)


@example(pair=([0.0, 1.0], [1.0, 5e-324]), n=1, seed=0)
@given(pairs, st.integers(1, 500), st.integers(0, 99))
def test_no_token_comes_out_that_the_target_excludes(pair, n: int, seed: int) -> None:
    target, draft = distributions(pair)
    found = simulate(target, draft, n, seed)
    again = simulate(target, draft, n, seed)
    for rule in (Rule.EXACT, Rule.TARGET_RESAMPLE):
        assert (found[rule].counts[target == 0] == 0).all()
        assert (found[rule].counts == again[rule].counts).all()
    assert all(one.counts.sum() == n for one in found.values())


def test_equal_distributions_are_always_accepted_and_disjoint_ones_never() -> None:
    probs = normalised([1, 2, 3], "it")
    assert simulate(probs, probs, 1000, 1)[Rule.EXACT].accepted == 1000
    assert residual(probs, probs) is None
    other = np.array([0.0, 0.0, 1.0]), np.array([0.5, 0.5, 0.0])
    assert acceptance(*other) == 0
    assert simulate(*other, 1000, 1)[Rule.EXACT].accepted == 0


def test_wilson_intervals_hold_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    held = []
    for p in (0.02, 0.3, 0.9):
        for _ in range(700):
            count = rng.binomial(400, p)
            found = Simulation(400, 400, np.array([count, 400 - count]))
            lower, upper = found.intervals()
            held.append(lower[0] <= p <= upper[0])
    assert 0.93 < np.mean(held) < 0.97


def test_wilson_by_hand() -> None:
    lower, upper = Simulation(10, 10, np.array([0, 10])).intervals()
    assert (lower[0], upper[1]) == (0, 1)
    assert upper[0] == pytest.approx(3.8415 / (10 + 3.8415), abs=1e-4)


def test_whether_weights_sum_to_one() -> None:
    assert is_normalised([0.1] * 10)
    assert not is_normalised([0.5, 0.4])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: normalised([], "The draft"), "The draft needs at least one"),
        (lambda: normalised([0.5, -0.1], "The draft"), "cannot have negative"),
        (lambda: normalised([0.5, float("nan")], "The draft"), "negative or missing"),
        (lambda: normalised([0.0, 0.0], "The draft"), "at least one probability above 0"),
        (lambda: acceptance(np.ones(2) / 2, np.ones(3) / 3), "the same tokens: one has 2"),
        (lambda: simulate(np.ones(1), np.ones(1), 0, 1), "number of draws"),
        (lambda: simulate(np.ones(1), np.ones(1), MOST_DRAWS + 1, 1), "number of draws"),
    ],
)
def test_wrong_values_are_named(call, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        call()

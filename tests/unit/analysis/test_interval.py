"""Intervals: quantiles, units, weights, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student

from benchmarks.arrivals_coverage import World as ArrivalsWorld
from benchmarks.arrivals_coverage import coverage_of as arrivals_coverage_of
from benchmarks.coverage.worlds import WORLDS, World, coverage_of, picked_coverage_of
from specviz.analysis.interval import (
    Replicates,
    by_unit,
    left_out,
    ratio_interval,
    student_quantile,
    units_of,
)


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (1e9, 1.960)]
)
def test_quantiles_are_those_of_the_printed_tables(freedom: float, quantile: float) -> None:
    assert student_quantile(0.975, freedom) == pytest.approx(quantile, abs=5e-4)


def test_few_degrees_of_freedom_need_not_be_whole() -> None:
    """Where a grid of 4,001 points was out by 3 in 10,000."""
    assert student.cdf(student_quantile(0.984375, 1.125), 1.125) == pytest.approx(0.984375)


def test_prompts_are_joined_through_any_block_they_share() -> None:
    together = [(1, "a"), (2, "a"), (3, "b"), (2, "c"), (4, "c"), (5, "d")]
    units = units_of(together)
    assert units[1] == units[2] == units[4]
    assert len({units[1], units[3], units[5]}) == 3


def test_sums_are_by_unit_and_without_each() -> None:
    totals = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert by_unit(totals, [7, 3, 7]).tolist() == [[5.0, 50.0], [2.0, 20.0]]
    assert left_out(totals)[:, 0].tolist() == [7.0, 6.0, 5.0, 3.0]


def test_few_prompts_few_units_or_no_number_give_no_interval() -> None:
    totals = np.random.default_rng(1).uniform(1, 2, (6, 4))
    assert ratio_interval(totals, 6) is not None
    assert ratio_interval(totals[:4], 4) is None
    assert ratio_interval(totals[:1], 6) is None
    totals[:, 2] = [0, 0, 0, 0, 0, 1]  # without the last there is nothing to take a logarithm of
    assert ratio_interval(totals, 6) is None


def test_one_long_answer_leaves_few_degrees_of_freedom() -> None:
    values = np.zeros((5, 1))
    assert Replicates(values, np.full(4, 0.25)).freedom == 3.0
    assert Replicates(values, np.array([0.97, 0.01, 0.01, 0.01])).freedom == 1.0


def test_an_error_of_the_method_widens_whatever_the_units_say() -> None:
    same = Replicates(np.zeros((9, 1)), np.full(8, 1 / 8), np.array([0.1]))
    (ends,) = same.ends
    assert ends is not None
    assert ends[1] == pytest.approx(0.1 * student.ppf(0.975, 7))


ROUNDS = 600
"""Of a quick simulation; three standard errors of a share of 0.95 are 0.027."""
FAR = 3 * (0.95 * 0.05 / ROUNDS) ** 0.5


@pytest.mark.parametrize("world", ["independent", "blocks"])
@pytest.mark.parametrize("prompts", [5, 10, 20, 60])
def test_intervals_hold_the_truth_about_as_often_as_they_say(world: str, prompts: int) -> None:
    found = coverage_of(WORLDS[world], prompts, ROUNDS, seed=3)
    assert 0.93 - FAR <= found <= 0.97 + FAR


def test_a_normal_quantile_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Replicates, "freedom", 1e6)
    assert coverage_of(WORLDS["independent"], 5, ROUNDS, seed=3) < 0.93 - FAR


def test_blocks_taken_as_prompts_would_be_seen() -> None:
    world = World(0.05, 0.02, block=4, shared=0.1)
    assert coverage_of(world, 20, ROUNDS, seed=3, ignore_blocks=True) < 0.93 - FAR


@pytest.mark.slow
def test_requests_that_arrive_at_random_are_independent_by_block_only() -> None:
    found = arrivals_coverage_of(ArrivalsWorld(prompts=128, rate=0.3, shared=0.1), 60, seed=3)
    assert found["prompts"] < 0.75 and found["busy periods"] < 0.75
    assert found["blocks"] >= 0.95 - 3 * (0.95 * 0.05 / 60) ** 0.5


@pytest.mark.parametrize(
    ("world", "prompts"),
    [
        ("independent", 5),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("independent", 20), ("blocks", 20), ("blocks", 60))
        ),
    ],
)
def test_the_picked_ks_interval_holds_the_truth_as_often(world: str, prompts: int) -> None:
    assert 0.93 - FAR <= picked_coverage_of(WORLDS[world], prompts, ROUNDS, seed=5) <= 0.97 + FAR


@pytest.mark.slow
@pytest.mark.parametrize(("world", "prompts"), [("independent, noisy", 5), ("blocks", 10)])
def test_with_five_units_the_picked_ks_interval_is_not_wider_than_it_says(
    world: str, prompts: int
) -> None:
    """With the freedom of one K's error in place of the pooled one 0.975 and 0.980 were covered."""
    assert 0.93 <= picked_coverage_of(WORLDS[world], prompts, 1000, seed=7) <= 0.97

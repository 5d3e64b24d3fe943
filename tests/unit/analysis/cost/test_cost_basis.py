"""Requests per hour from a benchmark, from the published tables and as typed; break-even."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.benchmark.crossover import Pays
from specviz.analysis.cost.basis import (
    LENGTHS,
    OPEN_LOOP,
    mean_tokens_of_the_mix,
    measured,
    published_by_concurrency,
    published_cost,
    typed,
)
from specviz.analysis.cost.load import break_even, break_even_text, cost_curve
from specviz.errors import UsageError
from tests.support.analysis.cost_cells import SPEEDUP, cell, results


def test_a_measured_rate_has_the_relative_interval_of_its_speedup() -> None:
    (basis,) = measured(results(cell(0, "plain", 2.0), cell(1, "fast", 3.0, speedup=SPEEDUP)))
    (way,) = basis.techniques
    rate = way.served[1].requests_per_hour
    assert rate.value == 10_800
    assert (rate.low, rate.high) == pytest.approx((10_800 * 0.9, 10_800 * 1.2))
    assert basis.baseline.served[1].requests_per_hour.value == 7200
    assert not basis.baseline.served[1].requests_per_hour.is_known


def test_bases_are_one_per_temperature_and_open_loops_are_left_out() -> None:
    warm = {"temperature": 0.7}
    rows = [
        cell(0, "plain", 2.0),
        cell(1, "fast", 3.0),
        cell(0, "plain", 2.0, concurrency=None, request_rate=2.0),
    ]
    cold = measured(results(*rows))
    assert [basis.title for basis in cold] == ["plain, temperature 0"]
    assert OPEN_LOOP in cold[0].notes
    sampled = replace(SPEEDUP, basis="time per token")
    rows += [
        replace(cell(0, "plain", 2.0), **warm),
        replace(cell(1, "fast", 3.0, speedup=sampled), **warm),
    ]
    both = measured(results(*rows))
    assert [LENGTHS in basis.notes for basis in both] == [False, True]


def test_without_a_baseline_there_is_no_basis() -> None:
    assert measured(results(cell(1, "fast", 3.0))) == ()
    assert measured(results(cell(0, "plain", 3.0))) == ()


def test_arms_at_other_concurrencies_cannot_be_compared() -> None:
    (basis,) = measured(results(cell(0, "plain", 2.0), cell(1, "fast", 3.0, concurrency=8)))
    assert basis.concurrencies(basis.techniques[0]) == []


def test_the_published_baseline_by_concurrency_is_throughput_over_speedup() -> None:
    basis = published_by_concurrency(100.0)
    (way,) = basis.techniques
    assert basis.concurrencies(way) == [1, 2, 4, 8, 16, 32, 64]
    assert basis.baseline.output_throughput[8] == pytest.approx(498.7 / 1.98)
    assert way.served[8].requests_per_hour.value == pytest.approx(498.7 * 36)
    found = break_even(basis.baseline.output_throughput, way.output_throughput)
    assert found is not None and found.pays is Pays.UP_TO
    assert 32 < found.crossings[0].concurrency < 64
    assert "saves up to concurrency ~53" in break_even_text(found)


def test_the_published_mix_has_211_tokens_per_request() -> None:
    prompts, low, high = (150, 100, 80, 50, 70, 50), (50, 150, 100, 300, 100, 50), 156_000
    middle = (sum(n * each for n, each in zip(prompts, low, strict=True)) + high) / 2
    assert mean_tokens_of_the_mix() == middle / 500 == 211


def test_typed_rates_and_tokens_give_throughput() -> None:
    basis = typed(3600.0, 7200.0, 50.0)
    assert basis.techniques[0].served[None].output_throughput == 100
    assert basis.techniques[0].output_throughput == {}  # at no concurrency that is known
    assert typed(1.0, 2.0, None).baseline.served[None].output_throughput is None


@pytest.mark.parametrize("wrong", [(0.0, 1.0, None), (1.0, -1.0, None), (1.0, 1.0, 0.0)])
def test_typed_figures_are_above_0(wrong: tuple[float, float, float | None]) -> None:
    with pytest.raises(UsageError, match="above 0"):
        typed(*wrong)


def test_an_unknown_technique_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="choose from Vanilla SD, EAGLE-3, Medusa-2"):
        published_cost().technique("Lookahead")


@given(at=st.floats(1.05, 63.5))
def test_break_even_is_found_on_lines_that_cross_there(at: float) -> None:
    """Both straight in log2 of concurrency, and equal at `at`."""
    known = (1, 2, 4, 8, 16, 32, 64)
    baseline = {one: 200.0 + 50 * math.log2(one) for one in known}
    arm = {one: 200.0 + 50 * math.log2(at) + 20 * math.log2(one / at) for one in known}
    found = break_even(baseline, arm)
    assert found is not None
    if at in known:
        return
    assert found.crossings[0].concurrency == pytest.approx(at, rel=1e-6)


def test_a_curve_passes_through_the_known_costs_and_the_break_even() -> None:
    curve = dict(cost_curve(3.6, {1: 10.0, 4: 40.0, 8: 20.0}))
    assert curve[1.0] == pytest.approx(100) and curve[4.0] == pytest.approx(25)
    assert curve[8.0] == pytest.approx(50)
    assert curve[2.0] == pytest.approx(40)  # half of the octaves from 1 to 4: 25 tok/s
    half = min(curve, key=lambda at: abs(at - math.sqrt(32)))
    assert half == pytest.approx(math.sqrt(32)) and curve[half] == pytest.approx(1000 / 30)
    assert cost_curve(1.0, {}) == ()


@pytest.mark.parametrize(
    ("baseline", "arm", "text"),
    [
        ({1: 1.0, 2: 2.0}, {1: 2.0, 2: 3.0}, "saves at every concurrency"),
        ({1: 1.0}, {1: 0.5}, "costs money at every concurrency that is known (concurrency 1)"),
        ({1: 1.0, 2: 1.0}, {1: 0.5, 2: 2.0}, "costs money up to concurrency"),
        ({1: 1.0, 2: 1.0, 4: 1.0}, {1: 2.0, 2: 0.5, 4: 2.0}, "no clear limit"),
        ({1: 1.0}, {2: 1.0}, "no concurrency was measured"),
    ],
)
def test_break_even_in_words(baseline: dict[int, float], arm: dict[int, float], text: str) -> None:
    assert text in break_even_text(break_even(baseline, arm))

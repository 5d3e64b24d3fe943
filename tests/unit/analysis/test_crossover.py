"""Up to which concurrency an arm pays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.benchmark.crossover import Pays, crossover

BASELINE = {1: 100.0, 4: 100.0, 16: 100.0}


def test_the_point_is_interpolated_in_log2_of_concurrency() -> None:
    found = crossover(BASELINE, {1: 300.0, 4: 120.0, 16: 80.0})
    assert found is not None and found.pays is Pays.UP_TO
    (point,) = found.crossings
    assert point.concurrency == pytest.approx(8.0)  # half way from 4 to 16
    assert point.output_throughput == pytest.approx(100.0)
    assert found.text == "pays up to concurrency ~8"


def test_the_point_lies_on_both_curves() -> None:
    found = crossover({8: 200.0, 32: 400.0}, {8: 300.0, 32: 380.0})
    assert found is not None
    (point,) = found.crossings
    share = 100 / 120
    assert point.output_throughput == pytest.approx(300 + share * 80)
    assert point.output_throughput == pytest.approx(200 + share * 200)
    assert point.concurrency == pytest.approx(8 * 4**share)


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        ({1: 101.0, 4: 101.0, 16: 101.0}, "pays at every measured concurrency (1 to 16)"),
        ({1: 99.0, 4: 99.0, 16: 99.0}, "pays at no measured concurrency (1 to 16)"),
        ({1: 100.0}, "pays at no measured concurrency (1)"),
        ({4: 130.0, 64: 10.0}, "pays at every measured concurrency (4)"),
        ({1: 90.0, 4: 110.0}, "pays from concurrency ~2.0"),
        (
            {1: 110.0, 4: 90.0, 16: 110.0},
            "crosses its baseline at concurrency ~2.0, ~8: no clear limit",
        ),
    ],
)
def test_what_is_said(arm: dict[int, float], words: str) -> None:
    found = crossover(BASELINE, arm)
    assert found is not None and found.text == words


def test_an_arm_that_only_reaches_its_baseline_crosses_there() -> None:
    found = crossover(BASELINE, {1: 200.0, 4: 100.0, 16: 100.0})
    assert found is not None and found.text == "pays up to concurrency ~4"


def test_nothing_in_common_is_nothing_to_say() -> None:
    assert crossover(BASELINE, {2: 100.0}) is None
    assert crossover({}, {}) is None


@given(
    st.dictionaries(
        st.integers(1, 1024), st.tuples(st.floats(0, 1e5), st.floats(0, 1e5)), min_size=1
    )
)
def test_crossings_lie_between_neighbours(pairs: dict[int, tuple[float, float]]) -> None:
    found = crossover(
        {at: base for at, (base, _) in pairs.items()},
        {at: own for at, (_, own) in pairs.items()},
    )
    assert found is not None and found.text
    points = [point.concurrency for point in found.crossings]
    assert points == sorted(points)
    assert all(min(pairs) <= point * 1.0000001 <= max(pairs) * 1.000001 for point in points)

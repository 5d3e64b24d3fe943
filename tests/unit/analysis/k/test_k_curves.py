"""Curves over K say what their source says, in one definition."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from specviz.analysis.benchmark.results import Acceptance, Cell, Quantiles, Speedup
from specviz.analysis.k.curves import (
    KFigures,
    Source,
    exactly,
    formula_curve,
    measured_curve,
    predicted_curve,
    published_curve,
)
from specviz.analysis.k.optimum import Choice, optimum
from specviz.analysis.k.predict import Estimate, Prediction
from specviz.analysis.theory import theory
from specviz.errors import UsageError

GB = 10**9
EMPTY = Cell(**dict.fromkeys(field.name for field in fields(Cell)) | {"notes": ()})


def cell(k: int | None, **changes: Any) -> Cell:
    return replace(EMPTY, k=k, **changes)


def test_the_published_lengths_get_the_bonus_token() -> None:
    """The documents' 0.91, 2.58, 4.05, 5.32, 6.90 and 8.70 leave it out."""
    curve = published_curve()
    assert curve.source is Source.PUBLISHED
    assert [point.k for point in curve.points] == [1, 3, 5, 7, 10, 15]
    lengths = [
        point.mean_acceptance_length.value for point in curve.points if point.mean_acceptance_length
    ]
    assert lengths == pytest.approx([1.91, 3.58, 5.05, 6.32, 7.90, 9.70])
    rates = [
        point.draft_acceptance_rate.value for point in curve.points if point.draft_acceptance_rate
    ]
    assert rates == pytest.approx([0.91, 0.86, 0.81, 0.76, 0.69, 0.58])
    assert [1 + point.k * rate for point, rate in zip(curve.points, rates, strict=True)] == (
        pytest.approx(lengths, abs=0.01)
    )
    assert [point.tpot_ms for point in curve.points] == [
        *map(exactly, (35.2, 16.8, 12.3, 11.1, 10.8, 11.5))
    ]
    assert curve.choices == tuple(
        Choice(*reported)
        for reported in [(1, 1.2, 0.3), (3, 2.52, 0.8), (5, 2.89, 1.8), (7, 3.02, 2.9),
                     (10, 2.95, 4.5), (15, 2.71, 7.2)]
    )  # fmt: skip
    assert "EAGLE-3" in curve.note


def test_the_published_optimum_with_and_without_a_limit() -> None:
    choices = published_curve().choices
    free, limited = optimum(choices), optimum(choices, memory_limit_gb=2.0)
    assert free is not None and limited is not None
    assert (free.best.k, free.plateau) == (7, (7,))
    assert (limited.best.k, limited.too_large) == (5, (7, 10, 15))


def test_the_formula_is_the_papers() -> None:
    """α 0.5, K 1 and 2, a token for 0.1 steps: 1.5 / 1.1 and 1.75 / 1.2."""
    curve = formula_curve(0.5, 0.1, [1, 2])
    assert curve.source is Source.FORMULA
    assert [point.speedup for point in curve.points] == [
        Estimate(pytest.approx(1.5 / 1.1), None, None),
        Estimate(pytest.approx(1.75 / 1.2), None, None),
    ]
    assert [point.mean_acceptance_length for point in curve.points] == [exactly(1.5), exactly(1.75)]
    assert [point.draft_acceptance_rate for point in curve.points] == [exactly(0.5), exactly(0.375)]
    assert [(p.tpot_ms, p.memory_gb) for p in curve.points] == [(None, None)] * 2
    assert "0.50" in curve.note and "0.10" in curve.note and "2211.17192" in curve.note
    best = optimum(formula_curve(0.8, 0.05, range(1, 16)).choices)
    assert best is not None and best.best.k == theory.best_k(0.8, 0.05, range(1, 16))


@pytest.mark.parametrize(("alpha", "cost"), [(1.01, 0.1), (-0.1, 0.1), (0.5, -0.1)])
def test_a_formula_out_of_range_is_refused(alpha: float, cost: float) -> None:
    with pytest.raises(UsageError):
        formula_curve(alpha, cost, [3])


def test_measured_cells_become_points_in_order() -> None:
    quantiles = Quantiles(9, 7.5, 7.0, 8.0, 9.0, 10.0)
    acceptance = Acceptance(0.6, 0.5, 4.0, 3.5, 0.8, (), (), 10, 50, 30)
    full = cell(
        5, speedup=Speedup(1.8, 1.6, 2.0, 9, 0, "time"), tpot_ms=quantiles, acceptance=acceptance,
        memory_bytes=5 * GB,
    )  # fmt: skip
    curve = measured_curve([full, cell(None, memory_bytes=GB), cell(2, memory_bytes=GB)], 2 * GB)
    assert curve.source is Source.MEASURED
    assert curve.points == (
        KFigures(2, memory_gb=0.0),
        KFigures(5, Estimate(1.8, 1.6, 2.0), exactly(7.5), exactly(4.0), exactly(0.6), 3.0),
    )
    assert curve.choices == (Choice(5, 1.8, 3.0),)


@pytest.mark.parametrize(("taken", "plain"), [(None, GB), (GB, None), (None, None)])
def test_memory_that_was_not_told_stays_unknown(taken: int | None, plain: int | None) -> None:
    (point,) = measured_curve([cell(3, memory_bytes=taken)], plain).points
    assert point.memory_gb is None


def test_a_prediction_knows_the_memory_of_its_own_k_only() -> None:
    def prediction(k: int, speedup: float | None) -> Prediction:
        figures = (Estimate(k + 0.1, 0.0, 99.0), Estimate(0.5, None, None), Estimate(9.0, 8.0, 10))
        return Prediction(k, *figures, exactly(speedup))

    reported = [prediction(1, 1.5), prediction(2, None), prediction(4, 1.7)]
    curve = predicted_curve(reported, Source.REDRAFTED, "how", 1.25)
    assert (curve.source, curve.note) == (Source.REDRAFTED, "how")
    assert [point.memory_gb for point in curve.points] == [None, None, 1.25]
    assert curve.points[2] == KFigures(
        4, exactly(1.7), Estimate(9.0, 8.0, 10), Estimate(4.1, 0.0, 99.0), exactly(0.5), 1.25
    )
    assert curve.choices == (Choice(1, 1.5), Choice(4, 1.7, 1.25))
    assert predicted_curve([], Source.PREDICTED, "", None).points == ()

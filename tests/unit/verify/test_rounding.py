"""A server's own rounding: sound servers are not called another model, and other models are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import poisson

from specviz.verify.checks.greedy import Compared, excess
from specviz.verify.rounding import ALPHA, RESOLUTION, Rounding, measured

Rng = np.random.Generator
Shape = tuple[int, int]

SIZES = [1e-5, 0.03, 0.3]
"""Those of float32, bfloat16 and 8-bit floats, in log-probability."""
SHAPE = (12, 48)
"""Answers, tokens of each."""


def laplace(rng: Rng, size: float) -> np.ndarray:
    return rng.laplace(0, size, SHAPE)


def gaussian(rng: Rng, size: float) -> np.ndarray:
    return rng.normal(0, size * np.sqrt(np.pi / 2), SHAPE)


def stepwise(rng: Rng, size: float) -> np.ndarray:
    """Most positions come out equal, the others by one or two steps: 16-bit logits."""
    return size * rng.choice([-2, -1, 0, 1, 2], p=[0.01, 0.04, 0.9, 0.04, 0.01], size=SHAPE)


def gaps_of_a_model(rng: Rng) -> np.ndarray:
    """Mostly sure, and at every tenth position of many equally good tokens."""
    sure, unsure = rng.exponential(4.0, SHAPE), rng.exponential(0.1, SHAPE)
    return np.where(rng.random(SHAPE) < 0.1, unsure, sure)


def fails(gaps: np.ndarray, again: np.ndarray, other: np.ndarray) -> bool:
    """Whether a server whose gaps are moved by `other` is called another model, where the
    baseline's own are moved by `again` in other batches: by position, towards a tie and beyond
    where negative."""
    again_alone = [
        (row, np.abs(shifts)[: len(up_to_its_parting(row, shifts).gaps)])
        for row, shifts in zip(gaps, again, strict=True)
    ]
    rounding = measured(again_alone)
    found = [up_to_its_parting(*row) for row in zip(gaps, other, strict=True)]
    return excess(found, rounding) is not None


def up_to_its_parting(gaps: np.ndarray, moves: np.ndarray) -> Compared:
    overtaken = np.flatnonzero(moves < -gaps)
    if not len(overtaken):
        return Compared(tuple(gaps))
    place = overtaken[0]
    return Compared(tuple(gaps[: place + 1]), "it parts", gaps[place])


@pytest.mark.parametrize("noise", [laplace, gaussian, stepwise])
@pytest.mark.parametrize("size", SIZES)
def test_sound_servers_fail_in_fewer_than_one_of_two_hundred(noise, size: float) -> None:
    rng = np.random.default_rng(7)
    failed = sum(
        fails(gaps_of_a_model(rng), noise(rng, size), noise(rng, size)) for _ in range(400)
    )
    assert failed < 2


@pytest.mark.parametrize("noise", [laplace, stepwise])
@pytest.mark.parametrize(("size", "other"), [(1e-5, 0.5), (0.03, 0.5), (0.3, 3.0)])
def test_another_model_is_found_whose_logits_differ_by_more_than_rounding(
    noise, size: float, other: float
) -> None:
    """A neighbour, trained a little longer."""
    rng = np.random.default_rng(8)
    found = [fails(gaps_of_a_model(rng), noise(rng, size), gaussian(rng, other)) for _ in range(50)]
    assert np.mean(found) > 0.9


def test_one_wrong_token_where_the_baseline_is_sure_is_found() -> None:
    rng = np.random.default_rng(9)
    gaps, wrong = np.full(SHAPE, 2.0), np.zeros(SHAPE)
    assert not fails(gaps, laplace(rng, 0.03), wrong)
    wrong[3, 20] = -2.5
    assert fails(gaps, laplace(rng, 0.03), wrong)


def test_a_baseline_that_computes_the_same_bits_leaves_room_for_a_step() -> None:
    """Of 16-bit logits: what a step with drafts computes may differ where batches do not."""
    rng = np.random.default_rng(10)
    gaps, same = 0.125 * rng.integers(2, 200, SHAPE), np.zeros(SHAPE)
    gaps[:, 9] = 0.125
    one, all_of_them, sure = same.copy(), same.copy(), same.copy()
    one[0, 9] = all_of_them[:, 9] = -0.25
    gaps[5, 30], sure[5, 30] = 3.0, -3.125
    assert [fails(gaps, same, other) for other in (same, one, all_of_them, sure)] == [
        False, False, True, True,
    ]  # fmt: skip


def test_where_nothing_moved_the_size_is_the_step_between_gaps() -> None:
    nothing, sixteen_bits = (0.0, RESOLUTION / 2, 0.0), (0.125, 2.0625, 17.5)
    assert measured([(sixteen_bits, nothing)]) == Rounding(positions=2, moved=0, size=0.0625)
    finer = measured([((0.125, 2.0625, 0.3), nothing)])
    assert finer is not None
    assert finer.size < 1e-4
    assert measured([(sixteen_bits, ())]) is None


def test_rounding_is_measured_where_the_model_is_unsure() -> None:
    seen = measured([((0.5, 2.9, 3.1), (0.5, 0.0, 8.0)), ((1.0, 9.0), (1.5,))])
    assert seen == Rounding(positions=3, moved=2, size=1.0)


@given(st.integers(0, 100), st.floats(0, 0.5), st.integers(1, 60), st.integers(1, 20))
def test_answers_part_as_arrivals_of_a_poisson_process(
    moved: int, gap: float, positions: int, answers: int
) -> None:
    overtakes = (moved + 1) / 102 / 2 * np.exp(-gap / 0.05)
    expected = -positions * np.log1p(-overtakes)
    most = Rounding(positions=100, moved=moved, size=0.05).most_parted([gap] * positions, answers)
    assert most == min(answers, poisson.isf(ALPHA / answers, expected))


@given(st.lists(st.floats(0, 20), max_size=50), st.floats(0, 20))
def test_rounding_parts_no_more_answers_at_fewer_gaps(gaps: list[float], width: float) -> None:
    rounding = Rounding(positions=100, moved=50, size=0.5)
    wide = [gap for gap in gaps if gap >= width]
    assert rounding.most_parted(wide, 12) <= rounding.most_parted(gaps, 12)
    assert rounding.most_parted([], 12) == 0

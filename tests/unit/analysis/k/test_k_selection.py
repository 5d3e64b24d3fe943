"""The K to use: the smallest that is not worse beyond noise, corrected for the picking."""

from __future__ import annotations

import numpy as np
import pytest

from specviz.analysis.interval import Replicates, left_out
from specviz.analysis.k.optimum import Choice, Noise, optimum
from specviz.analysis.k.selection import not_worse, pick

KS = (1, 2, 3, 4)


def of_means(values: np.ndarray) -> Replicates:
    """Means over units as figures; values: [units, ks]."""
    units = len(values)
    counts = np.array([units] + [units - 1] * units)[:, None]
    return Replicates(left_out(values) / counts, np.full(units, 1 / units))


def noisy(curve: list[float], noise: float, units: int = 20, seed: int = 1) -> Replicates:
    rng = np.random.default_rng(seed)
    common = rng.normal(0, 0.3, (units, 1))  # of the prompt, the same at all Ks
    return of_means(np.array(curve) + common + rng.normal(0, noise, (units, len(curve))))


def test_the_smallest_that_is_as_good_is_used_not_the_fastest() -> None:
    found = noisy([0.2, 0.5, 0.501, 0.502], 0.02)
    assert not_worse(found) == [1, 2, 3]
    assert pick(found).picked == 1


def test_noise_that_all_ks_share_does_not_make_them_equal() -> None:
    """Prompts differ by 0.3, Ks by 0.1 with noise of 0.02: paired, they differ."""
    assert not_worse(noisy([0.4, 0.5, 0.4, 0.3], 0.02)) == [1]


def test_a_prediction_that_may_be_off_makes_more_of_them_equal() -> None:
    sharp = noisy([0.4, 0.5, 0.4, 0.3], 0.02)
    blunt = Replicates(sharp.values, sharp.shares, np.full(4, 0.1))
    assert not_worse(blunt) == [0, 1, 2, 3][: len(not_worse(blunt))]
    assert pick(blunt).picked == 0 and pick(blunt).error > pick(sharp).error


def test_the_best_of_equals_is_too_high_and_the_corrected_one_is_not() -> None:
    naive, corrected = [], []
    for seed in range(300):
        found = noisy([0.5] * 15, 0.3, units=12, seed=seed)
        truth = found.values[0].mean()
        naive.append(found.values[0].max() - truth)
        corrected.append(pick(found).value - truth)
    assert np.mean(naive) > 0.1
    assert abs(np.mean(corrected)) < 0.02


def test_the_error_of_a_pick_is_surer_the_less_the_ks_move_together() -> None:
    units = 20
    same = of_means(np.random.default_rng(1).normal(0, 0.3, (units, 1)) + np.zeros(4))
    assert pick(same).freedom == pytest.approx(units - 1)
    some, alone = noisy([0.5] * 4, 0.3, units), noisy([0.5] * 4, 3.0, units)
    assert units < pick(some).freedom < pick(alone).freedom < 4 * (units - 1)
    own = Replicates(same.values, same.shares, np.full(4, 1.0))
    assert pick(own).freedom > units
    still = of_means(np.full((units, 4), 0.5))
    assert pick(still).freedom == pytest.approx(units - 1)


def test_an_optimum_says_which_are_equivalent_and_what_is_not_known() -> None:
    replicates = noisy([0.2, 0.5, 0.501, 0.502], 0.02)
    choices = [Choice(k, float(np.exp(v))) for k, v in zip(KS, replicates.values[0], strict=True)]
    found = optimum(choices, noise=Noise(KS, replicates, 20))
    assert found is not None and found.low is not None and found.high is not None
    assert (found.best.k, found.plateau) == (2, (2, 3, 4))
    assert found.low < found.best.speedup < found.high
    assert found.verdict_text == "faster" and found.is_worth_it
    none = noisy([0.0, 0.01, 0.0, 0.01], 0.02)
    near = optimum(choices, noise=Noise(KS, none, 20))
    assert near is not None and not near.is_worth_it
    assert near.verdict_text.startswith("not distinguishable; ")


@pytest.mark.parametrize("units", [2, 4])
def test_too_few_units_leave_it_undecided(units: int) -> None:
    replicates = noisy([0.2, 0.5, 0.5, 0.5], 0.02, units=units)
    choices = [Choice(k, float(np.exp(v))) for k, v in zip(KS, replicates.values[0], strict=True)]
    found = optimum(choices, noise=Noise(KS, replicates, units))
    assert found is not None and found.low is None and not found.is_worth_it
    assert found.verdict_text == f"not decided: {units} prompts, 5 needed"

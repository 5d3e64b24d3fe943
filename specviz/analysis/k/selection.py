"""The smallest K that is not worse than the best, and what it gains, corrected for having been
picked.

The best of several noisy figures is too high by construction (the winner's curse). So K is picked
again from resampled units, where the truth is known: it is the figure of all units. How far the
figures of those picks are off is the bias and the standard error of the pick (the bootstrap of the
whole procedure; Efron and Tibshirani 1993, chapters 6 and 10; of a selection, Efron 2014).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from specviz.analysis.interval import OUTSIDE, Array, Replicates, student_quantile

RESAMPLES = 1000
SEED = 1
"""The same measurements have the same interval."""


@dataclass(frozen=True, slots=True)
class Pick:
    """`equivalent`: columns that are not worse than the best beyond noise, `picked` the first of
    them. `value` and `error`, its standard error, are corrected for the picking; both on the scale
    of the replicates. `freedom`: degrees of freedom of that error."""

    picked: int
    equivalent: tuple[int, ...]
    value: float
    error: float
    freedom: float

    @property
    def ends(self) -> tuple[float, float]:
        """The 95 % interval."""
        reach = student_quantile(1 - OUTSIDE / 2, self.freedom) * self.error
        return self.value - reach, self.value + reach


def pick(found: Replicates) -> Pick:
    """From one column per K, ascending, of figures of which more is better.

    Replicates of units are paired: noise that all Ks share, as of a slow baseline, is in none of
    their differences. A K is worse if the interval of its difference to the best is below 0,
    one-sided, at 95 %.
    """
    equivalent = not_worse(found)
    off, picks = _off_in_resamples(found)
    value = float(found.values[0, equivalent[0]] - off.mean())
    error, freedom = float(off.std(ddof=1)), _pooled_freedom(found, picks)
    return Pick(equivalent[0], tuple(equivalent), value, error, freedom)


def not_worse(found: Replicates) -> list[int]:
    """Columns that are not worse than the best one beyond noise, ascending."""
    best = int(np.argmax(found.values[0]))
    apart = found.values - found.values[:, [best]]
    behind = Replicates(apart, found.shares, _errors_to(found, best)).standard_error
    return [int(place) for place in np.flatnonzero(apart[0] >= -_reach(found) * behind)]


def _off_in_resamples(found: Replicates) -> tuple[Array, NDArray[np.intp]]:
    """By how much the figure of the K that each resample picks is off, and its column, each
    [RESAMPLES]."""
    rng = np.random.default_rng(SEED)
    units, columns = len(found.shares), found.values.shape[1]
    effects = (units - 1) * (found.values[0] - found.values[1:])  # of one unit more, times units
    effects -= effects.mean(axis=0)
    weights = rng.multinomial(units, np.full(units, 1 / units), RESAMPLES) / units
    moved = sqrt(units / (units - 1)) * weights @ effects
    moved += rng.normal(size=(RESAMPLES, columns)) * found.own_error
    values = found.values[0] + moved
    best = values.argmax(axis=1)
    picked = np.zeros(RESAMPLES, dtype=np.intp)
    for place in np.unique(best):
        there = best == place
        apart = effects - effects[:, [place]]
        spread = weights[there] @ apart**2 - (weights[there] @ apart) ** 2
        behind = np.hypot(
            np.sqrt(np.maximum(spread, 0.0) / (units - 1)), _errors_to(found, int(place))
        )
        ahead = values[there] - values[there, place][:, None]
        picked[there] = (ahead >= -_reach(found) * behind).argmax(axis=1)
    off: Array = moved[np.arange(RESAMPLES), picked]
    return off, picked


def _pooled_freedom(found: Replicates, picks: NDArray[np.intp]) -> float:
    """Degrees of freedom of the standard error of a pick.

    Its variance is pooled from those of the Ks that resamples pick: where these Ks do not move
    together it is surer than that of any one of them (Satterthwaite 1946, An approximate
    distribution of estimates of variance components, with variances that are correlated).
    """
    without = found.values[1:]
    units, columns = without.shape
    often = np.bincount(picks, minlength=columns) / len(picks)
    moved = without - without.mean(axis=0)
    together = moved.T @ moved * (units - 1) / units
    together += np.diag(np.broadcast_to(found.own_error**2, columns))
    pooled = float(often @ together.diagonal())
    if not pooled > 0:  # nothing moves at all
        return found.freedom
    return found.freedom * pooled**2 / float(often @ together**2 @ often)


def _reach(found: Replicates) -> float:
    """Standard errors that a K may be behind the best, one-sided, at 95 %."""
    return student_quantile(1 - OUTSIDE, found.freedom)


def _errors_to(found: Replicates, best: int) -> Array:
    """Own errors of the differences to the best, for errors that are independent of each other."""
    errors = np.broadcast_to(found.own_error, found.values.shape[1:])
    apart: Array = np.sqrt(errors**2 + errors[best] ** 2)
    apart[best] = 0.0
    return apart

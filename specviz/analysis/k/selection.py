"""The smallest K that is not worse than the best, and what it gains, corrected for having been
picked.

The best of several noisy figures is too high by construction (the winner's curse). So the figure of
a picked K is cross-fitted: each unit counts at the K that the other units pick (sample splitting,
Cox 1975; with every unit in turn as the other part, as in Stone's cross-validation, 1974).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from specviz.analysis.interval import OUTSIDE, Array, Replicates, student_quantile


@dataclass(frozen=True, slots=True)
class Pick:
    """`equivalent`: columns that are not worse than the best beyond noise, `picked` the first of
    them. `value` and `error`, its standard error, are corrected for the picking; both on the scale
    of the replicates. `freedom`: degrees of freedom."""

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
    picked = equivalent[0]
    units = len(found.shares)
    pseudo = units * found.values[0] - (units - 1) * found.values[1:]
    by_others = [not_worse(found.without(unit))[0] for unit in range(units)]
    own = pseudo[np.arange(units), by_others]
    spread = float(own.std(ddof=1)) / sqrt(units)
    unpicked = float(found.units_error[picked])
    errors = np.broadcast_to(found.own_error, found.values.shape[1:])
    error = sqrt(max(spread, unpicked) ** 2 + float(errors[picked]) ** 2)
    return Pick(picked, tuple(equivalent), float(own.mean()), error, found.freedom)


def not_worse(found: Replicates) -> list[int]:
    """Columns that are not worse than the best one beyond noise, ascending."""
    values = found.values
    best = int(np.argmax(values[0]))
    behind = Replicates(
        values - values[:, [best]],
        found.shares,
        _apart(np.broadcast_to(found.own_error, values.shape[1:]), best),
    ).standard_error
    reach = student_quantile(1 - OUTSIDE, found.freedom) * behind
    return [int(place) for place in np.flatnonzero(values[0] - values[0, best] >= -reach)]


def _apart(errors: Array, best: int) -> Array:
    """Errors of the differences to the best, for errors that are independent of each other."""
    apart: Array = np.sqrt(errors**2 + errors[best] ** 2)
    apart[best] = 0.0
    return apart

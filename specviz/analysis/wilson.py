"""Wilson's interval of a share (1927): few cases, and shares of 0 or 100 %, do not break it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Z_95 = 1.959964
"""The quantile of the normal distribution for a 95 % interval."""


def wilson_interval(
    counts: int | NDArray[np.int64], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper end of the 95 % interval of `counts` / `n`, 0-1, in the shape of `counts`.

    `n` is 1 or more.
    """
    shares, squared = np.asarray(counts) / n, Z_95**2
    middle = shares + squared / (2 * n)
    width = Z_95 * np.sqrt(shares * (1 - shares) / n + squared / (4 * n**2))
    scale = 1 + squared / n
    # Rounding leaves the ends beside 0 and 1, which the formula gives for none and all.
    lower = np.where(shares == 0, 0.0, (middle - width) / scale)
    upper = np.where(shares == 1, 1.0, (middle + width) / scale)
    return lower, upper

"""Quantiles of a cell's times, and how many values they need before they mean something."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from specviz.analysis.benchmark.results import Quantiles
from specviz.analysis.text import counted

VALUES_NEEDED = {"P90": 10, "P95": 20, "P99": 100}
"""With fewer values a quantile is just the largest or the one next to it: 1 / (1 - q)."""


def quantiles(values: ArrayLike) -> Quantiles | None:
    """Linearly interpolated (numpy's default, method 7 of Hyndman and Fan 1996) of [values].

    NaN is a request without this figure and does not count; None: no value is left.
    """
    found = np.asarray(values, dtype=float)
    found = found[~np.isnan(found)]
    if not found.size:
        return None
    p50, p90, p95, p99 = (float(value) for value in np.quantile(found, [0.5, 0.9, 0.95, 0.99]))
    return Quantiles(int(found.size), float(found.mean()), p50, p90, p95, p99)


def too_few(quantiles_of_cell: Sequence[Quantiles | None]) -> str | None:
    """One sentence for all figures of a cell: which quantiles rest on too few values."""
    counts = [one.count for one in quantiles_of_cell if one is not None]
    fewest = min(counts, default=0)
    weak = [f"{name} (needs {n})" for name, n in VALUES_NEEDED.items() if fewest < n]
    if not counts or not weak:
        return None
    verb = "rest" if len(weak) > 1 else "rests"
    names = " and ".join(filter(None, [", ".join(weak[:-1]), weak[-1]]))
    return f"{names} {verb} on as few as {counted(fewest, 'value')}."

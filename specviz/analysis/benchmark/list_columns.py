"""Columns of lists, as a sample keeps its chunks and steps: one array instead of many lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def lengths(lists: pd.Series) -> NDArray[np.int64]:
    """How long each list is, [rows]; missing ones are not allowed."""
    return np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))


def pooled(lists: pd.Series, dtype: type) -> NDArray[Any]:
    """The values of all lists one after another, [sum of lengths]."""
    values: NDArray[Any] = np.concatenate([np.empty(0), *lists]).astype(dtype)
    return values


def differences(lists: pd.Series) -> NDArray[np.float64]:
    """Differences of consecutive values within each list, never across two; missing lists: none."""
    present = lists.dropna()
    owners = np.repeat(np.arange(len(present)), lengths(present))
    within = owners[1:] == owners[:-1]
    steps: NDArray[np.float64] = np.diff(pooled(present, float))[within]
    return steps

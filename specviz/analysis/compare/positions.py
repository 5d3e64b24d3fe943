"""Acceptance by position of a run's requests, with intervals over prompts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from specviz.analysis.compare.bootstrap import Array, interval, resampled


@dataclass(frozen=True, slots=True)
class PositionRate:
    """Accepted at `position` (from 1) / drafts, 0-1; None: no interval for so few prompts."""

    position: int
    rate: float
    low: float | None = None
    high: float | None = None


def rates_by_position(requests: pd.DataFrame) -> list[PositionRate]:
    """Unconditional acceptance of finished requests by position; none if nothing was drafted.

    `acceptance_rate_per_pos` of each request (list or None) counts with its `num_drafts`, which is
    exact: they are shares of it. The interval resamples `conversation`s.
    """
    counted = requests[(requests["num_drafts"] > 0) & requests["acceptance_rate_per_pos"].notna()]
    if not len(counted):
        return []
    totals = _per_prompt(counted)
    draws = resampled(totals)
    rates = totals[:, 1:].sum(axis=0) / totals[:, 0].sum()
    found = []
    for place, rate in enumerate(rates):
        ends = None
        if draws is not None:
            ends = interval(draws[:, place + 1] / draws[:, 0], len(totals))
        found.append(PositionRate(place + 1, float(rate), *(ends or (None, None))))
    return found


def _per_prompt(counted: pd.DataFrame) -> Array:
    """[prompts, 1 + positions]: drafts, and how many of them were accepted at each position."""
    depths = max(map(len, counted["acceptance_rate_per_pos"]))
    drafts = counted["num_drafts"].to_numpy(dtype=float)
    rates = np.zeros((len(counted), depths))
    for row, own in enumerate(counted["acceptance_rate_per_pos"]):
        rates[row, : len(own)] = own
    counts = pd.DataFrame(np.column_stack([drafts, rates * drafts[:, None]]))
    totals: Array = counts.groupby(counted["conversation"].to_numpy()).sum().to_numpy()
    return totals

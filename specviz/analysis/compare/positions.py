"""Acceptance by position of a run's requests, with intervals over prompts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from specviz.analysis.compare.paired import conversation_units
from specviz.analysis.interval import (
    PROMPTS_NEEDED,
    Array,
    Replicates,
    by_unit,
    left_out,
    shares_of,
)


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
    exact: they are shares of it. The interval is over `conversation`s, or their blocks, on the
    logistic scale.
    """
    counted = requests[(requests["num_drafts"] > 0) & requests["acceptance_rate_per_pos"].notna()]
    if not len(counted):
        return []
    totals, prompts = _per_unit(counted)
    sums = left_out(totals)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = sums[:, 1:] / sums[:, :1]
        odds = np.log(rates / (1 - rates))
    ends = Replicates(odds, shares_of(totals[:, 0])).ends
    found = []
    for place, rate in enumerate(rates[0]):
        own = ends[place] if prompts >= PROMPTS_NEEDED else None
        low, high = (None, None) if own is None else (_rate(own[0]), _rate(own[1]))
        found.append(PositionRate(place + 1, float(rate), low, high))
    return found


def _rate(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))


def _per_unit(counted: pd.DataFrame) -> tuple[Array, int]:
    """[units, 1 + positions]: drafts, and how many of them were accepted at each position; and how
    many prompts."""
    depths = max(map(len, counted["acceptance_rate_per_pos"]))
    drafts = counted["num_drafts"].to_numpy(dtype=float)
    rates = np.zeros((len(counted), depths))
    for row, own in enumerate(counted["acceptance_rate_per_pos"]):
        rates[row, : len(own)] = own
    counts = pd.DataFrame(np.column_stack([drafts, rates * drafts[:, None]]))
    prompts = counts.groupby(counted["conversation"].to_numpy()).sum()
    unit_of = conversation_units([counted])
    return by_unit(prompts.to_numpy(), [unit_of[one] for one in prompts.index]), len(prompts)

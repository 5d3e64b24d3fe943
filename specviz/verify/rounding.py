"""How far a server's own rounding moves log-probabilities, and how many greedy answers it parts.

A step that verifies K drafted tokens computes K + 1 rows where plain decoding computes one, by
other kernels, which add up in another order. Batches of other sizes take such kernels without any
speculation, so the baseline answers the greedy prompts alone and then several at once: while both
answers are the same, the gap between the best token and the second is one quantity, computed twice.

Many gaps come out equal where logits have few bits, and those that move do so by a step or more.
So a gap moves with some probability, by sizes that fall off exponentially (Laplace, whose tails are
heavier than those of a sum of many roundings): the second token overtakes the best one at a gap g
with the probability moved / positions / 2 × exp(-g / size).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

ALPHA = 0.001
"""A correct server fails once in a thousand tests, or more rarely."""

RESOLUTION = 2.0**-18
"""Nothing smaller is a difference: log-probabilities are 32-bit numbers, 2e-6 apart from 16 up, and
a gap has two."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """Of `positions` that were computed twice, `moved` came out with another gap, by `size` on
    average (log-probability)."""

    positions: int
    moved: int
    size: float

    def most_parted(self, gaps: Sequence[float], answers: int) -> int:
        """How many of the answers rounding parts at these gaps, but for a chance of ALPHA over all
        that is asked of so many answers (Bonferroni).

        `gaps`: of all positions that were compared, one at which an answer parts being its last.
        Summed over them, minus the logarithms of the chances to go on are the time of a Poisson
        process of rate 1 that has an arrival wherever an answer parts (time-rescaling: Brown et
        al. 2002, The time-rescaling theorem and its application to neural spike train data).
        """
        # by the rule of succession: that none was seen to move does not say that none does
        moves = (self.moved + 1) / (self.positions + 2)
        overtakes = moves / 2 * np.exp(-np.asarray(gaps, dtype=float) / self.size)
        expected = float(-np.log1p(-overtakes).sum())
        most, exactly = 0, exp(-expected)
        more = 1 - exactly
        while most < answers and more > ALPHA / answers:
            most += 1
            exactly *= expected / most
            more -= exactly
        return most


def measured(gaps: Sequence[float], moves: Sequence[float]) -> Rounding | None:
    """From the gaps that a server reports, and by how much each moved when it was computed again;
    None without any.

    If none moved, the size is the step between the gaps, which any move would have been.
    """
    if not moves:
        return None
    seen = [move for move in moves if move > RESOLUTION]
    return Rounding(len(moves), len(seen), float(np.mean(seen)) if seen else _step(gaps))


def _step(gaps: Sequence[float]) -> float:
    """The largest power of two of which all gaps are multiples: that of 16-bit logits shows."""
    found = np.asarray(gaps, dtype=float)
    step = 1.0
    while step > RESOLUTION and (np.abs(found - step * np.round(found / step)) > RESOLUTION).any():
        step /= 2
    return step

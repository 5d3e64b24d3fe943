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

UNSURE = 3.0
"""Rounding is measured where the second token is at least a twentieth as likely as the best: logits
are largest where a model is sure, and so is their rounding, but nothing parts there."""


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


def measured(answers: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Rounding | None:
    """From each answer's gaps, and by how much they moved when they were computed again; None if
    none were.

    If none moved, the size is the step between gaps, which any move would have been.
    """
    pairs = [pair for gaps, moves in answers for pair in zip(gaps, moves, strict=False)]
    if not pairs:
        return None
    moves = [move for gap, move in pairs if gap <= UNSURE]
    seen = [move for move in moves if move > RESOLUTION]
    size = float(np.mean(seen)) if seen else _step([gap for gap, _ in pairs])
    return Rounding(len(moves), len(seen), size)


def _step(gaps: Sequence[float]) -> float:
    """The largest power of two of which all gaps are multiples: that of 16-bit logits shows."""
    found = np.asarray(gaps, dtype=float)
    step = 1.0
    while step > RESOLUTION and (np.abs(found - step * np.round(found / step)) > RESOLUTION).any():
        step /= 2
    return step

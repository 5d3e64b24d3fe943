"""The K of one cell of the table, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from specviz.analysis.interval import PROMPTS_NEEDED
from specviz.analysis.k.optimum import PLATEAU, UNITS_NEEDED
from specviz.analysis.k.predict import Estimate
from specviz.analysis.k.selection import pick
from specviz.analysis.policy.comparison import Comparison
from specviz.analysis.policy.objective import Objective
from specviz.policy.policy import Basis


@dataclass(frozen=True, slots=True)
class Candidate:
    """One K that competed. `figure`: goodput in req/s, or output throughput in tok/s."""

    k: int
    figure: Estimate


@dataclass(frozen=True, slots=True)
class Decision:
    """The K of a temperature and load.

    `equivalent_ks` are not worse than the best beyond noise, `k` is the smallest of them. `gain`
    over plain decoding, corrected for having been picked: a ratio of throughputs, or req/s more;
    None for K = 0. `blocks`: what an interval counts as independent. `rests_on`: where a predicted
    cell was taken from, or why there is no interval; empty for a measured cell with one.
    """

    temperature: float | None
    concurrency: int
    k: int
    basis: Basis
    equivalent_ks: tuple[int, ...]
    candidates: tuple[Candidate, ...]
    gain: Estimate | None
    prompts: int
    blocks: int
    rests_on: str = ""

    def figure(self, k: int) -> Estimate | None:
        """What that K gave; None if it did not compete."""
        return next((one.figure for one in self.candidates if one.k == k), None)


def decide(
    found: Comparison, objective: Objective, temperature: float, concurrency: int
) -> Decision:
    """The smallest K that is not worse than the best beyond noise, paired (`k/selection.py`).

    Without an interval, the smallest within 2 % of the best.
    """
    if not found.is_enough:
        return _without_interval(found, objective, temperature, concurrency)
    picked = pick(found.gains)
    k = found.ks[picked.picked]
    low, high = (objective.gain_shown(end) for end in picked.ends)
    return Decision(
        temperature=temperature,
        concurrency=concurrency,
        k=k,
        basis=Basis.EQUIVALENT if len(picked.equivalent) > 1 else Basis.MEASURED,
        equivalent_ks=tuple(found.ks[place] for place in picked.equivalent),
        candidates=_candidates(found, with_interval=True),
        gain=Estimate(objective.gain_shown(picked.value), low, high) if k else None,
        prompts=found.prompts,
        blocks=found.units,
        rests_on="" if any(found.figures) else "no request met the SLO with any K",
    )


def _without_interval(
    found: Comparison, objective: Objective, temperature: float, concurrency: int
) -> Decision:
    figures = np.array(found.figures)
    as_good = [int(place) for place in np.flatnonzero(figures >= (1 - PLATEAU) * figures.max())]
    place = as_good[0]
    gain = objective.gain_shown(float(found.gains.values[0, place]))
    k = found.ks[place]
    return Decision(
        temperature=temperature,
        concurrency=concurrency,
        k=k,
        basis=Basis.EQUIVALENT if len(as_good) > 1 else Basis.MEASURED,
        equivalent_ks=tuple(found.ks[one] for one in as_good),
        candidates=_candidates(found, with_interval=False),
        gain=Estimate(gain, None, None) if k else None,
        prompts=found.prompts,
        blocks=found.units,
        rests_on=_why_no_interval(found),
    )


def _why_no_interval(found: Comparison) -> str:
    if not any(found.figures):
        return "no request met the SLO with any K"
    if found.prompts < PROMPTS_NEEDED:
        return f"no interval: {PROMPTS_NEEDED} prompts needed"
    return f"no interval: {UNITS_NEEDED} blocks needed"


def _candidates(found: Comparison, *, with_interval: bool) -> tuple[Candidate, ...]:
    ends = found.replicates.ends if with_interval else [None] * len(found.ks)
    return tuple(
        Candidate(k, Estimate(figure, *(pair or (None, None))))
        for k, figure, pair in zip(found.ks, found.figures, ends, strict=True)
    )

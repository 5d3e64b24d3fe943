"""The Ks of one place side by side: what each gives, and by how much it beats K = 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from specviz.analysis.benchmark.k_choice import FEWEST
from specviz.analysis.benchmark.speedup import measured_alongside
from specviz.analysis.benchmark.throughput import BLOCK
from specviz.analysis.interval import (
    PROMPTS_NEEDED,
    Array,
    Replicates,
    left_out,
    shares_of,
    units_of,
)
from specviz.analysis.k.optimum import UNITS_NEEDED
from specviz.analysis.policy.objective import Objective

PLAIN = 0
"""K = 0 competes too."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """`ks`, ascending, plain decoding first, with their `figures` (`Objective.unit`).

    `gains`: replicates of what each K has over plain decoding measured alongside, one column per K,
    paired over `units`: prompts, or blocks where prompts shared one. `replicates`: of the figures
    themselves. Both rest on what every K answered: so many `prompts`.
    """

    ks: tuple[int, ...]
    figures: tuple[float, ...]
    prompts: int
    units: int
    gains: Replicates = field(compare=False, repr=False)
    replicates: Replicates = field(compare=False, repr=False)

    @property
    def is_enough(self) -> bool:
        """Whether Ks can be compared beyond noise."""
        return self.prompts >= PROMPTS_NEEDED and self.units >= UNITS_NEEDED


def compare(
    arms: Mapping[int, pd.DataFrame], plain: pd.DataFrame, objective: Objective
) -> Comparison | None:
    """Finished requests by K, and the baseline's, all at one temperature and load.

    A K that answered less than half of the prompts is left out. None where nothing is left to
    compare, or nothing counts what was asked for.
    """
    most = max((frame["prompt_index"].nunique() for frame in arms.values()), default=0)
    answered = {
        k: frame
        for k, frame in sorted(arms.items())
        if frame["prompt_index"].nunique() > FEWEST * most
    }
    frames = [plain, *answered.values()]
    known = [found for frame in frames if (found := objective.by_block(frame)) is not None]
    if not answered or len(known) < len(frames):
        return None
    beside = [measured_alongside(known[0], blocks) for blocks in known]
    prompts_in = pd.concat([frame[["prompt_index", *BLOCK]] for frame in frames])
    totals, prompts = _totals([*known, *beside], prompts_in)
    if not len(totals):
        return None
    return _comparison((PLAIN, *answered), totals, prompts, objective)


def _totals(blocks: list[pd.DataFrame], prompts_in: pd.DataFrame) -> tuple[Array, int]:
    """What was counted and its seconds, [units, frames, 2], of the units that every frame has, and
    how many prompts these hold."""
    unit_of = units_of(
        (row.prompt_index, (row.round_id, row.block))
        for row in prompts_in.drop_duplicates().itertuples(index=False)
    )
    sums = [
        frame[["counted", "seconds"]].groupby(frame["prompt_index"].map(unit_of)).sum()
        for frame in blocks
    ]
    shared = sorted(set.intersection(*(set(one.index) for one in sums)))
    totals = np.stack([one.loc[shared].to_numpy(dtype=float) for one in sums], axis=1)
    return totals, sum(unit in set(shared) for unit in unit_of.values())


def _comparison(
    ks: tuple[int, ...], totals: Array, prompts: int, objective: Objective
) -> Comparison:
    sums = left_out(totals)
    with np.errstate(divide="ignore", invalid="ignore"):  # a unit may hold all that was counted
        figures = sums[..., 0] / sums[..., 1]
    own, plain = figures[:, : len(ks)], figures[:, len(ks) :]
    shares = shares_of(totals[..., 1].sum(axis=1))
    return Comparison(
        ks=ks,
        figures=tuple(float(value) for value in own[0]),
        prompts=prompts,
        units=len(totals),
        gains=Replicates(objective.gains(own, plain), shares),
        replicates=Replicates(own, shares),
    )

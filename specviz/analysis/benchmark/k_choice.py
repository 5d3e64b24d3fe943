"""Which K of a method, where several were measured on the same prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from specviz.analysis.benchmark.cells import CellKey, Measured
from specviz.analysis.benchmark.families import families
from specviz.analysis.benchmark.results import ArmState, Corrected, KChoice
from specviz.analysis.benchmark.speedup import comparable, per_prompt
from specviz.analysis.interval import Replicates, by_unit, left_out, shares_of, units_of
from specviz.analysis.k.optimum import Choice, Noise, optimum

FEWEST = 0.5
"""An arm that answered fewer of the prompts than this is not compared: it would take the prompts
away from the others."""


def k_choices(
    arms: Sequence[ArmState], paired: Mapping[CellKey, Measured], categories: Sequence[str | None]
) -> Iterator[KChoice]:
    """One per method, temperature, load and category at which at least two Ks can be compared.

    `categories`: None for all prompts together.
    """
    for family in families(arms):
        of_arm = {arm.arm_index: arm.k for arm in family.arms if arm.k}
        places = dict.fromkeys(
            key._replace(arm_index=-1) for key in paired if key.arm_index in of_arm
        )
        for place in places:
            cells = {arm: paired.get(place._replace(arm_index=arm)) for arm in of_arm}
            for category in categories:
                pairs = {arm: cell and cell.pairs_of(category) for arm, cell in cells.items()}
                known = {arm: own for arm, own in pairs.items() if own is not None}
                found = noise_of(of_arm, known, place.temperature)
                if found is not None and found[1].is_enough:
                    yield _choice(*found, place, category)


def noise_of(
    ks: Mapping[int, int], pairs: Mapping[int, pd.DataFrame], temperature: float
) -> tuple[list[int], Noise] | None:
    """The arms that can be compared by K, and the noise of their speed-ups over the prompts that
    all of them and their baselines answered; None for fewer than two Ks or for no prompt."""
    chosen = {arm: comparable(own, temperature) for arm, own in pairs.items()}
    most = max((len(own) for _, own in chosen.values()), default=0)
    arms = sorted(
        (arm for arm, (_, own) in chosen.items() if len(own) > FEWEST * most),
        key=lambda arm: ks[arm],
    )
    if len({ks[arm] for arm in arms}) < 2 or len(arms) != len({ks[arm] for arm in arms}):
        return None
    shared = sorted(set.intersection(*(set(chosen[arm][1].index) for arm in arms)))
    if not shared:
        return None
    together = [
        (prompt, (arm, unit))
        for arm in arms
        for prompt, unit in chosen[arm][1].loc[shared, "unit"].items()
    ]
    unit_of = units_of(together)
    totals = np.stack([per_prompt(chosen[arm][1].loc[shared], chosen[arm][0]) for arm in arms], 1)
    units = by_unit(totals, [unit_of[prompt] for prompt in shared])
    sums = left_out(units)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(sums[..., 2] / sums[..., 3]) - np.log(sums[..., 0] / sums[..., 1])
    if not np.isfinite(logs).all():
        return None
    shares = shares_of(units[..., 0].sum(axis=1), units[..., 2].sum(axis=1))
    noise = Noise(tuple(ks[arm] for arm in arms), Replicates(logs, shares), len(shared))
    return arms, noise


def _choice(arms: Sequence[int], noise: Noise, place: CellKey, category: str | None) -> KChoice:
    ratios = np.exp(noise.replicates.values[0])
    choices = [Choice(k, float(ratio)) for k, ratio in zip(noise.ks, ratios, strict=True)]
    found = optimum(choices, noise=noise)
    assert found is not None
    return KChoice(
        arms=tuple(arms),
        temperature=place.temperature,
        concurrency=place.concurrency,
        request_rate=place.request_rate,
        category=category,
        ks=noise.ks,
        k=found.best.k,
        equivalent_ks=found.plateau,
        speedup=Corrected(found.best.speedup, found.low, found.high, noise.prompts,
                          found.more_prompts, found.verdict),
        noise=noise,
    )  # fmt: skip

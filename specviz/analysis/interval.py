"""95 % intervals: one estimator for every figure that rests on several prompts.

A figure is computed from all units and again without each of them (the jackknife; Tukey 1958, Efron
and Stein 1981). A unit is a prompt, or all prompts that shared a block: what slows a block slows
all its prompts, so that only whole blocks are independent of each other. Ratios are taken as
logarithms. The interval is Student's t around the figure; its degrees of freedom are Kish's
effective number of units (Survey Sampling, 1965), less one, because a few long answers carry most
of a total. `python -m benchmarks.coverage` counts how often such intervals hold the truth.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

PROMPTS_NEEDED = 5
"""Fewer prompts give no interval."""
UNITS_NEEDED = 2
"""One block has nothing to be compared with: it gives no interval, however many prompts it has."""
OUTSIDE = 0.05
"""How much of the probability an interval leaves out, half of it at either end."""

Array = NDArray[np.float64]
Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Replicates:
    """Figures of all units, `values[0]`, and without each of them, `values[1:]`: [units + 1, n].

    On the scale on which noise is symmetric: logarithms of ratios. `shares`, [units]: what each
    unit contributes to the totals, sums to 1. `own_error`, [n]: a standard error that more units do
    not reduce, as that of a prediction's method.
    """

    values: Array
    shares: Array
    own_error: Array = field(default_factory=lambda: np.zeros(1))

    @property
    def freedom(self) -> float:
        """Degrees of freedom: Kish's effective number of units, less one, and 1 at least."""
        return max(1.0, 1 / float((self.shares**2).sum()) - 1)

    @property
    def units_error(self) -> Array:
        """Standard error of each figure, [n], over units."""
        without = self.values[1:]
        units = len(without)
        with np.errstate(invalid="ignore"):  # a replicate may be infinite
            spread = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
        error: Array = np.sqrt(spread * (units - 1) / units)
        return error

    @property
    def standard_error(self) -> Array:
        """Of each figure, [n]."""
        error: Array = np.hypot(self.units_error, self.own_error)
        return error

    @property
    def ends(self) -> list[Ends | None]:
        """The 95 % interval of each figure; None where it, or a replicate, is not a number."""
        if len(self.shares) < UNITS_NEEDED:
            return [None] * self.values.shape[1]
        reach = student_quantile(1 - OUTSIDE / 2, self.freedom) * self.standard_error
        return [
            (float(value - far), float(value + far)) if np.isfinite(value + far) else None
            for value, far in zip(self.values[0], reach, strict=True)
        ]

    def of(self, columns: Sequence[int]) -> Replicates:
        """Some of the figures."""
        errors = np.broadcast_to(self.own_error, self.values.shape[1:])
        return Replicates(self.values[:, [*columns]], self.shares, errors[[*columns]])


def left_out(totals: Array) -> Array:
    """Sums over all units and without each of them, [units + 1, …]; totals: [units, …]."""
    whole = totals.sum(axis=0)
    sums: Array = np.concatenate([whole[None], whole[None] - totals])
    return sums


def shares_of(*weights: Array) -> Array:
    """The mean of several totals' shares by unit, [units]: what each unit weighs in a ratio."""
    parts = [weight / weight.sum() for weight in weights if weight.sum() > 0]
    size = len(weights[0])
    shares: Array = np.mean(parts, axis=0) if parts else np.full(size, 1 / size)
    return shares


def ratio_replicates(totals: Array) -> Replicates:
    """log((other / its per) / (reference / its per)); totals: [units, 4], `over` and `per` of
    either, the reference first."""
    sums = left_out(totals)
    with np.errstate(divide="ignore", invalid="ignore"):  # a unit may hold all that was accepted
        logs = np.log(sums[:, 2] / sums[:, 3]) - np.log(sums[:, 0] / sums[:, 1])
    return Replicates(logs[:, None], shares_of(totals[:, 0], totals[:, 2]))


def total_interval(totals: Array, prompts: int) -> Ends | None:
    """Of one ratio of totals, [units, 2]: over and per; None for too few prompts or units, and
    where a total is zero."""
    if prompts < PROMPTS_NEEDED or len(totals) < UNITS_NEEDED:
        return None
    sums = left_out(totals)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(sums[:, 0] / sums[:, 1])
    (ends,) = Replicates(logs[:, None], shares_of(totals[:, 0], totals[:, 1])).ends
    return None if ends is None else (float(np.exp(ends[0])), float(np.exp(ends[1])))


def ratio_interval(totals: Array, prompts: int) -> Ends | None:
    """Of other / reference, see `ratio_replicates`; None for too few prompts or units."""
    if prompts < PROMPTS_NEEDED or len(totals) < UNITS_NEEDED:
        return None
    (ends,) = ratio_replicates(totals).ends
    return None if ends is None else (float(np.exp(ends[0])), float(np.exp(ends[1])))


def units_of(together: Iterable[tuple[Hashable, Hashable]]) -> dict[Hashable, int]:
    """The unit of each prompt, from pairs of a prompt and a block in which it was answered.

    Prompts that share a block, or a prompt with a block in common, are one unit.
    """
    parents: dict[tuple[bool, Hashable], tuple[bool, Hashable]] = {}

    def root(node: tuple[bool, Hashable]) -> tuple[bool, Hashable]:
        parents.setdefault(node, node)
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    for prompt, block in together:
        parents[root((True, prompt))] = root((False, block))
    numbers: dict[tuple[bool, Hashable], int] = {}
    prompts = [node for node in parents if node[0]]
    return {node[1]: numbers.setdefault(root(node), len(numbers)) for node in prompts}


def by_unit(totals: Array, units: NDArray[Any] | list[int]) -> Array:
    """Sums of rows by unit, in the order in which the units first occur."""
    places = {unit: place for place, unit in enumerate(dict.fromkeys(np.asarray(units).tolist()))}
    sums = np.zeros((len(places), *totals.shape[1:]))
    np.add.at(sums, [places[unit] for unit in np.asarray(units).tolist()], totals)
    return sums


@lru_cache(maxsize=512)
def student_quantile(probability: float, freedom: float) -> float:
    """Quantile of Student's t; degrees of freedom need not be whole."""
    from scipy.special import stdtrit  # a third of a second, which pages without intervals save

    return float(stdtrit(freedom, probability))

"""Simulated benchmarks whose true speed-up is known, and how often intervals hold it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specviz.analysis.interval import Replicates, by_unit, left_out, ratio_interval, shares_of
from specviz.analysis.k.selection import Pick, pick

Array = NDArray[np.float64]

LENGTHS = 0.6
OUTLIERS, SLOWER = 0.02, 1.5
KS = np.arange(1, 16)
BEST_K = 6


@dataclass(frozen=True)
class World:
    """`gains`: sigma of the per-prompt speed-ups; `noise` of a request and `shared` of a block, as
    shares; `block`: prompts in one. `bend`: how fast speed-up falls off the best K."""

    gains: float
    noise: float
    block: int = 1
    shared: float = 0.0
    bend: float = 0.05


WORLDS = {
    "independent": World(0.2, 0.04),
    "independent, noisy": World(0.1, 0.1, bend=0.02),
    "independent, calm": World(0.3, 0.02, bend=0.1),
    "blocks": World(0.05, 0.02, block=2, shared=0.05),
    "blocks, noisy": World(0.2, 0.04, block=2, shared=0.02),
    "blocks of four": World(0.1, 0.02, block=4, shared=0.02),
}


def coverage_of(
    world: World, prompts: int, rounds: int, seed: int, *, ignore_blocks: bool = False
) -> float:
    """The share of intervals that hold the true ratio."""
    rng = np.random.default_rng(seed)
    held = 0
    for _ in range(rounds):
        baseline, method, truth = benchmark(rng, world, prompts, np.zeros(1))
        totals = np.stack([method[:, 0], np.ones(prompts), baseline, np.ones(prompts)], axis=1)
        units = np.arange(prompts) if ignore_blocks else blocks(world, prompts)
        ends = ratio_interval(by_unit(totals, units), max(prompts, 5))
        held += ends is not None and ends[0] <= np.exp(truth[0]) <= ends[1]
    return float(held) / rounds


def picked_coverage_of(world: World, prompts: int, rounds: int, seed: int) -> float:
    """The share of corrected intervals that hold the true speed-up of the K that was picked."""
    rng = np.random.default_rng(seed)
    held = 0
    for _ in range(rounds):
        found, truth = picked(rng, world, prompts)
        low, high = found.ends
        held += bool(low <= truth[found.picked] <= high)
    return float(held) / rounds


def picked(rng: np.random.Generator, world: World, prompts: int) -> tuple[Pick, Array]:
    """The K that a simulated sweep picks, and the true logarithms of the speed-ups of all."""
    away = np.log(KS / BEST_K)
    baseline, method, truth = benchmark(rng, world, prompts, -world.bend * away**2, away)
    units = by_unit(np.column_stack([baseline, method]), blocks(world, prompts))
    sums = left_out(units)
    logs = np.log(sums[:, :1]) - np.log(sums[:, 1:])
    shares = shares_of(units[:, 0], units[:, 1:].sum(axis=1))
    return pick(Replicates(logs, shares)), truth


def blocks(world: World, prompts: int) -> NDArray[np.int64]:
    """The block of each prompt; the last one takes what is left over."""
    count = max(1, prompts // world.block)
    where: NDArray[np.int64] = np.minimum(np.arange(prompts) // world.block, count - 1)
    return where


def benchmark(
    rng: np.random.Generator, world: World, prompts: int, curve: Array, tilt: Array | None = None
) -> tuple[Array, Array, Array]:
    """Times of the baseline [prompts] and of each arm [prompts, arms], and the true logarithms of
    the ratios of totals [arms]. `curve`: what prompts gain on average; `tilt`: by how much more or
    less a prompt gains at each arm, for a standard deviation of a third of `gains`."""
    slopes = np.zeros(1) if tilt is None else tilt
    baseline = np.exp(rng.normal(0, LENGTHS, prompts))
    gains = rng.normal(0, world.gains, prompts)[:, None]
    gains = gains + rng.normal(0, world.gains / 3, prompts)[:, None] * slopes
    method = baseline[:, None] / np.exp(curve + gains)
    variance = world.gains**2 * (1 + (slopes / 3) ** 2)
    where = blocks(world, prompts)
    slow = 1 + world.shared * rng.normal(size=(where[-1] + 1, 1 + len(curve)))
    times = np.column_stack([baseline, method])
    times *= 1 + world.noise * rng.normal(size=times.shape)
    times *= np.where(rng.random(times.shape) < OUTLIERS, SLOWER, 1.0) * slow[where]
    return times[:, 0], times[:, 1:], curve - variance / 2

"""How often 95 % intervals hold the truth where requests arrive at random times.

A server that shares its time among the requests under way; requests of very different length
(lognormal, sigma 0.6) arrive as a Poisson process; prompts gain differently (sigma 0.15). Each
block of an arm is a little slow or fast as a whole. Compared as units: prompts, busy periods
(requests that overlap in time), and blocks.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks.results_file import add_save_option, save
from specviz.analysis.interval import by_unit, ratio_interval, units_of
from specviz.bench.load.load import Load
from specviz.bench.plan.schedule import blocks

Array = NDArray[np.float64]

LENGTHS, GAIN, GAINS = 0.6, 0.4, 0.15
CROWDED = 0.15
"""How much longer each takes for every other request that is under way."""
UNITS = ("prompts", "busy periods", "blocks")


@dataclass(frozen=True)
class World:
    """`rate`: arrivals in the time that a mean request takes alone; `shared`: sigma of how slow a
    block is as a whole."""

    prompts: int
    rate: float
    shared: float


WORLDS = [World(*one) for one in product((64, 128), (0.3, 1.0), (0.0, 0.03))]


def coverage_of(world: World, rounds: int, seed: int) -> dict[str, float]:
    """By kind of unit, the share of intervals that hold the true ratio."""
    truth = true_ratio(world, max(200, 20_000 // world.prompts))
    rng = np.random.default_rng(seed)
    held = dict.fromkeys(UNITS, 0)
    for _ in range(rounds):
        times, units = benchmark(rng, world)
        ones = np.ones(world.prompts)
        totals = np.stack([times[:, 1], ones, times[:, 0], ones], axis=1)
        for name in UNITS:
            ends = ratio_interval(by_unit(totals, units[name]), world.prompts)
            held[name] += ends is not None and ends[0] <= truth <= ends[1]
    return {name: count / rounds for name, count in held.items()}


def true_ratio(world: World, rounds: int) -> float:
    """Of the totals of many benchmarks in which no block is slow."""
    rng = np.random.default_rng(0)
    quiet = World(world.prompts, world.rate, 0.0)
    sums = sum(benchmark(rng, quiet)[0].sum(axis=0) for _ in range(rounds))
    return float(sums[0] / sums[1])


def benchmark(rng: np.random.Generator, world: World) -> tuple[Array, dict[str, NDArray[np.int64]]]:
    """Times of baseline and method [prompts, 2], and the unit of each prompt."""
    work = np.exp(rng.normal(-(LENGTHS**2) / 2, LENGTHS, world.prompts))
    gained = np.exp(rng.normal(GAIN, GAINS, world.prompts))
    times = np.zeros((world.prompts, 2))
    block_of = np.zeros(world.prompts, dtype=np.int64)
    overlaps: list[tuple[int, tuple[int, int, int]]] = []
    for number, block in enumerate(blocks(world.prompts, Load(request_rate=world.rate))):
        block_of[block] = number
        arrivals = np.cumsum(rng.exponential(1 / world.rate, len(block)))
        for arm, alone in enumerate((work[block], work[block] / gained[block])):
            slow = 1 + world.shared * rng.normal()
            times[block, arm] = answered(arrivals, alone * slow)
            periods = busy_periods(arrivals, times[block, arm])
            overlaps += [
                (prompt, (number, arm, period))
                for prompt, period in zip(block, periods, strict=True)
            ]
    found = units_of(overlaps)
    busy = np.array([found[prompt] for prompt in range(world.prompts)])
    return times, {"prompts": np.arange(world.prompts), "busy periods": busy, "blocks": block_of}


def answered(arrivals: Array, alone: Array) -> Array:
    """From arrival to end: all requests under way share the server evenly."""
    left, took = alone.copy(), np.zeros(len(alone))
    now, come, under_way = 0.0, 0, list[int]()
    while come < len(arrivals) or under_way:
        pace = 1 / (1 + CROWDED * (len(under_way) - 1)) if under_way else 1.0
        first = min(under_way, key=left.__getitem__, default=None)
        ends = np.inf if first is None else now + left[first] / pace
        comes = arrivals[come] if come < len(arrivals) else np.inf
        left[under_way] -= (min(ends, comes) - now) * pace
        now = min(ends, comes)
        if comes <= ends:
            under_way.append(come)
            come += 1
        elif first is not None:
            under_way.remove(first)
            took[first] = now - arrivals[first]
    return took


def busy_periods(arrivals: Array, took: Array) -> Iterator[int]:
    """The number of each request's busy period: another begins when nothing is under way."""
    until, period = -np.inf, -1
    for at, seconds in zip(arrivals, took, strict=True):
        period += at >= until
        until = max(until, at + seconds)
        yield period


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400, help="simulated benchmarks of each")
    parser.add_argument("--seed", type=int, default=1)
    add_save_option(parser, "arrivals_coverage")
    asked = parser.parse_args()
    rows = []
    for world in WORLDS:
        covered = coverage_of(world, asked.rounds, asked.seed)
        row = {
            "prompts": world.prompts, "rate": world.rate, "shared": world.shared,
            "covered": covered,
        }  # fmt: skip
        print(row, flush=True)
        rows.append(row)
    if asked.save:
        save(asked.save, {"rounds": asked.rounds, "seed": asked.seed, "rows": rows})


if __name__ == "__main__":
    main()

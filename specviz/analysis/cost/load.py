"""Cost over concurrency, and where speculation begins to cost money.

At one price a million tokens cost less exactly where throughput is higher, so the break-even is
the crossing of the throughputs (`analysis.benchmark.crossover`: linear in log2 of concurrency).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

from specviz.analysis.benchmark.crossover import Crossover, Pays, crossover
from specviz.analysis.cost.request import cost_per_million_tokens

STEPS = 12
"""Points per segment of a curve: between measured concurrencies cost is not a straight line."""

Point = tuple[float, float]
"""Concurrency, $ per million output tokens."""


def cost_curve(usd_per_hour: float, output_throughput: Mapping[int, float]) -> tuple[Point, ...]:
    """The cost at and between the given concurrencies. Raises UsageError for a price of 0."""
    at = sorted(output_throughput)
    points: list[Point] = []
    for left, right in pairwise(at):
        for step in range(STEPS):
            share = step / STEPS
            octaves = math.log2(left) + share * math.log2(right / left)
            between = output_throughput[left] + share * (
                output_throughput[right] - output_throughput[left]
            )
            points.append((2**octaves, cost_per_million_tokens(usd_per_hour, between)))
    last = [
        (float(one), cost_per_million_tokens(usd_per_hour, output_throughput[one]))
        for one in at[-1:]
    ]
    return (*points, *last)


def break_even(baseline: Mapping[int, float], method: Mapping[int, float]) -> Crossover | None:
    """Throughput by concurrency; None where they have no concurrency in common."""
    return crossover(baseline, method)


def break_even_text(found: Crossover | None) -> str:
    """`saves up to concurrency ~53, and costs money above`."""
    if found is None:
        return "no concurrency was measured both with and without speculation"
    first, last = found.measured[0], found.measured[-1]
    places = f"concurrency {first}" if first == last else f"concurrency {first} to {last}"
    if found.pays is Pays.EVERYWHERE:
        return f"saves at every concurrency that is known ({places})"
    if found.pays is Pays.NOWHERE:
        return f"costs money at every concurrency that is known ({places})"
    at = ", ".join(f"~{crossing.concurrency:.2g}" for crossing in found.crossings)
    if found.pays is Pays.UP_TO:
        return f"saves up to concurrency {at}, and costs money above"
    if found.pays is Pays.FROM:
        return f"costs money up to concurrency {at}, and saves above"
    return f"turns between saving and costing at concurrency {at}: no clear limit"

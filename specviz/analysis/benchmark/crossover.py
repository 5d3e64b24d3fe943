"""Up to which concurrency an arm pays: where its throughput falls to its baseline's.

Between two measured concurrencies throughput is taken as linear in log2 of the concurrency, as a
chart with a log2 axis draws it; nothing is extrapolated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from specviz.analysis.text import digits


class Pays(StrEnum):
    """Where an arm's throughput is above its baseline's, over the measured concurrencies."""

    EVERYWHERE = "everywhere"
    NOWHERE = "nowhere"
    UP_TO = "up to"
    FROM = "from"
    CHANGING = "changing"  # the curves cross more than once


@dataclass(frozen=True, slots=True)
class Crossing:
    """A point where both curves meet; throughput in output tokens per second."""

    concurrency: float
    output_throughput: float


@dataclass(frozen=True, slots=True)
class Crossover:
    """Where an arm pays. `crossings` are in order of concurrency, `measured` what both have."""

    pays: Pays
    measured: tuple[int, ...]
    crossings: tuple[Crossing, ...] = ()

    @property
    def text(self) -> str:
        """In words: `pays up to concurrency ~9`."""
        if self.pays is Pays.EVERYWHERE:
            return f"pays at every measured concurrency ({self._range})"
        if self.pays is Pays.NOWHERE:
            return f"pays at no measured concurrency ({self._range})"
        at = [_about(crossing.concurrency) for crossing in self.crossings]
        if self.pays is Pays.CHANGING:
            return f"crosses its baseline at concurrency {', '.join(at)}: no clear limit"
        return f"pays {self.pays.value} concurrency {at[0]}"

    @property
    def _range(self) -> str:
        first, last = self.measured[0], self.measured[-1]
        return f"{first}" if first == last else f"{first} to {last}"


def crossover(baseline: Mapping[int, float], arm: Mapping[int, float]) -> Crossover | None:
    """Compare throughput (output tokens per second) by concurrency, where both were measured.

    An arm pays where it is above its baseline. None if they have no concurrency in common.
    """
    measured = tuple(sorted(baseline.keys() & arm.keys()))
    if not measured:
        return None
    above = [arm[concurrency] > baseline[concurrency] for concurrency in measured]
    crossings = tuple(
        _crossing(left, right, baseline, arm)
        for left, right, before, after in zip(
            measured, measured[1:], above, above[1:], strict=False
        )
        if before is not after
    )
    return Crossover(_pays(above, len(crossings)), measured, crossings)


def _pays(above: list[bool], crossings: int) -> Pays:
    if crossings > 1:
        return Pays.CHANGING
    if crossings == 1:
        return Pays.UP_TO if above[0] else Pays.FROM
    return Pays.EVERYWHERE if above[0] else Pays.NOWHERE


def _crossing(
    left: int, right: int, baseline: Mapping[int, float], arm: Mapping[int, float]
) -> Crossing:
    """Where the segments from `left` to `right` meet; the differences have different signs."""
    before, after = arm[left] - baseline[left], arm[right] - baseline[right]
    share = before / (before - after)
    octaves = math.log2(left) + share * (math.log2(right) - math.log2(left))
    throughput = baseline[left] + share * (baseline[right] - baseline[left])
    return Crossing(2**octaves, throughput)


def _about(concurrency: float) -> str:
    """An interpolated concurrency, no finer than it deserves: ~1.4, ~9, ~37."""
    if concurrency < 4:
        return f"~{concurrency:.1f}"
    return f"~{digits(round(concurrency)) if concurrency >= 100 else round(concurrency)}"

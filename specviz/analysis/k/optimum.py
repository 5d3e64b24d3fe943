"""The K to use, and the Ks that are as good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from specviz.analysis.interval import PROMPTS_NEEDED, Replicates
from specviz.analysis.k.selection import pick
from specviz.analysis.verdict import (
    Verdict,
    gain_text,
    more_prompts,
    no_interval_text,
    undecided_text,
    verdict_of,
)

PLATEAU = 0.02
"""Without intervals, a speed-up within 2 % of the best is as good as the best."""
UNITS_NEEDED = 3
"""Prompts or blocks: fewer do not show by how much Ks differ."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One K that can be chosen. `memory_gb` beyond plain decoding, None where it is not known."""

    k: int
    speedup: float
    memory_gb: float | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """Replicates of the logarithms of the speed-ups of `ks`, ascending, over `prompts`."""

    ks: tuple[int, ...]
    replicates: Replicates
    prompts: int

    @property
    def is_enough(self) -> bool:
        """Whether Ks can be compared beyond noise."""
        return self.prompts >= PROMPTS_NEEDED and len(self.replicates.shares) >= UNITS_NEEDED


@dataclass(frozen=True, slots=True)
class Optimum:
    """The K to use of those that fit.

    With noise, `best` is the smallest that is not worse than the fastest beyond noise, and its
    speed-up, `low` and `high` are corrected for the picking (`selection.py`); `plateau` are the Ks
    that are not worse. Without, `best` is the fastest and `plateau` within 2 % of it. Both
    ascending, with gaps where Ks between them are worse or were not measured. `too_large`: Ks that
    do not fit the memory; `unknown_memory`: Ks that were kept although nobody knows what they take.
    `prompts` 0: figures of a formula or published, which have no noise here.
    """

    best: Choice
    plateau: tuple[int, ...]
    too_large: tuple[int, ...] = ()
    unknown_memory: tuple[int, ...] = ()
    low: float | None = None
    high: float | None = None
    prompts: int = 0
    more_prompts: int | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether speculation with this K is faster than plain decoding."""
        if self.prompts == 0:
            return Verdict.FASTER if self.best.speedup > 1.0 else Verdict.SLOWER
        return verdict_of(self.low, self.high)

    @property
    def is_worth_it(self) -> bool:
        """Whether speculation is faster than plain decoding, beyond noise."""
        return self.verdict is Verdict.FASTER

    @property
    def verdict_text(self) -> str:
        """`faster`, `slower`, or what would decide it."""
        if self.verdict is not Verdict.UNDECIDED:
            return self.verdict.value
        if self.low is None:
            return no_interval_text(self.prompts, None)
        return undecided_text(self.more_prompts)

    @property
    def gain_text(self) -> str:
        """The speed-up as a headline has it; see `verdict.gain_text`."""
        return gain_text(self.best.speedup, self.low, self.high)

    @property
    def speedup_text(self) -> str:
        """`1.66× to 2.05× (1.87×)`, the interval first; the figure alone where there is none."""
        if self.low is None or self.high is None:
            return f"{self.best.speedup:.2f}×"
        return f"{self.low:.2f}× to {self.high:.2f}× ({self.best.speedup:.2f}×)"


def optimum(
    choices: Sequence[Choice],
    memory_limit_gb: float | None = None,
    noise: Noise | None = None,
    prompts: int = 0,
) -> Optimum | None:
    """The K to use; None if there is none, or none that fits.

    `noise` of the choices' speed-ups; without it `prompts` says over how many they were measured.
    """
    fits = sorted((c for c in choices if _fits(c, memory_limit_gb)), key=lambda choice: choice.k)
    if not fits:
        return None
    limited = memory_limit_gb is not None
    too_large = tuple(sorted(c.k for c in choices if c not in fits))
    unknown = tuple(c.k for c in fits if limited and c.memory_gb is None)
    compared = [c for c in fits if noise is not None and c.k in noise.ks]
    if noise is not None and noise.is_enough and compared:
        return _beyond_noise(compared, noise, too_large, unknown)
    best = max(fits, key=lambda choice: choice.speedup)
    plateau = tuple(c.k for c in fits if c.speedup >= (1 - PLATEAU) * best.speedup)
    seen = noise.prompts if noise is not None else prompts
    return Optimum(best, plateau, too_large, unknown, prompts=seen)


def _beyond_noise(
    choices: Sequence[Choice], noise: Noise, too_large: tuple[int, ...], unknown: tuple[int, ...]
) -> Optimum:
    columns = [noise.ks.index(choice.k) for choice in choices]
    found = pick(noise.replicates.of(columns))
    speedup, (low, high) = exp(found.value), map(exp, found.ends)
    picked = choices[found.picked]
    return Optimum(
        best=Choice(picked.k, speedup, picked.memory_gb),
        plateau=tuple(choices[place].k for place in found.equivalent),
        too_large=too_large,
        unknown_memory=unknown,
        low=low,
        high=high,
        prompts=noise.prompts,
        more_prompts=more_prompts(speedup, low, high, noise.prompts, found.freedom),
    )


def _fits(choice: Choice, limit_gb: float | None) -> bool:
    return limit_gb is None or choice.memory_gb is None or choice.memory_gb <= limit_gb

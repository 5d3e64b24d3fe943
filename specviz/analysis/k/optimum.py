"""The best K, and the Ks that are as good within a few percent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PLATEAU = 0.02
"""A speed-up within 2 % of the best is as good as the best."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One K that can be chosen. `memory_gb` beyond plain decoding, None where it is not known."""

    k: int
    speedup: float
    memory_gb: float | None = None


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best of the choices that fit. `plateau`: the Ks within 2 % of it, ascending; with gaps
    where Ks between them are worse or were not measured. `too_large`: Ks that do not fit the
    memory; `unknown_memory`: Ks that were kept although nobody knows what they take."""

    best: Choice
    plateau: tuple[int, ...]
    too_large: tuple[int, ...] = ()
    unknown_memory: tuple[int, ...] = ()

    @property
    def is_worth_it(self) -> bool:
        """Whether speculation is faster than plain decoding at all."""
        return self.best.speedup > 1.0


def optimum(choices: Sequence[Choice], memory_limit_gb: float | None = None) -> Optimum | None:
    """The best K, the smallest of equals; None if there is none, or none that fits."""
    fits = [choice for choice in choices if _fits(choice, memory_limit_gb)]
    if not fits:
        return None
    best = max(sorted(fits, key=lambda choice: choice.k), key=lambda choice: choice.speedup)
    plateau = sorted(c.k for c in fits if c.speedup >= (1 - PLATEAU) * best.speedup)
    limited = memory_limit_gb is not None
    return Optimum(
        best=best,
        plateau=tuple(plateau),
        too_large=tuple(sorted(c.k for c in choices if c not in fits)),
        unknown_memory=tuple(sorted(c.k for c in fits if limited and c.memory_gb is None)),
    )


def _fits(choice: Choice, limit_gb: float | None) -> bool:
    return limit_gb is None or choice.memory_gb is None or choice.memory_gb <= limit_gb

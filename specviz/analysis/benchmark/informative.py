"""Which of several benchmarks a page opens unasked: the one that says most about its question.

First whether what the page needs was measured, then how much of it: requests, categories, loads.
The newest of those that say as much.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from specviz.analysis.benchmark.families import without_k
from specviz.analysis.text import counted
from specviz.methods import Method

Place = tuple[float, int]
"""Temperature and concurrency."""


class Need(StrEnum):
    """What a page compares."""

    KS = "K"
    LOADS = "load"
    METHODS = "method"


ENOUGH = {Need.KS: 3, Need.LOADS: 2, Need.METHODS: 2}
"""As many make a curve or a choice. Further ones count for less than further requests."""


@dataclass(frozen=True, slots=True)
class MeasuredArm:
    """An arm with finished requests; see `store.benchmarks.rows.ArmRow`. `places`: where it was
    measured at a fixed concurrency."""

    name: str
    engine: str
    method: str | None
    k: int | None
    model: str | None
    draft: str | None
    places: frozenset[Place]

    @property
    def is_plain(self) -> bool:
        return self.method == Method.BASELINE

    def compares_with(self, plain: MeasuredArm) -> frozenset[Place]:
        """Where both were measured; nowhere on another engine or model."""
        same = (self.engine, self.model) == (plain.engine, plain.model)
        return self.places & plain.places if same else frozenset()


@dataclass(frozen=True, slots=True)
class Contents:
    """What a benchmark has finished requests of."""

    benchmark_id: str
    started_at: datetime
    requests: int
    categories: int
    arms: tuple[MeasuredArm, ...]

    def compared(self) -> list[tuple[MeasuredArm, frozenset[Place]]]:
        """The arms that draft, each with the places at which it has plain decoding beside it."""
        plain = [arm for arm in self.arms if arm.is_plain]
        found = [
            (arm, frozenset[Place]().union(*(arm.compares_with(one) for one in plain)))
            for arm in self.arms
            if not arm.is_plain
        ]
        return [(arm, places) for arm, places in found if places]

    def has(self, need: Need) -> int:
        """How many Ks of one method, loads of one arm, or methods it compares with plain
        decoding."""
        compared = self.compared()
        if need is Need.METHODS:
            return len({arm.method for arm, _ in compared})
        if need is Need.LOADS:
            loads: dict[tuple[str, float], set[int]] = defaultdict(set)
            for arm, places in compared:
                for temperature, concurrency in places:
                    loads[arm.name, temperature].add(concurrency)
            return max(map(len, loads.values()), default=0)
        ks: dict[tuple[str, str, str | None, str | None], set[int]] = defaultdict(set)
        for arm, _ in compared:
            if arm.k is not None:
                ks[without_k(arm.name), arm.engine, arm.model, arm.draft].add(arm.k)
        return max(map(len, ks.values()), default=0)

    @property
    def loads(self) -> int:
        """Concurrencies at which anything was measured."""
        return len({concurrency for arm in self.arms for _, concurrency in arm.places})


def most_informative(stored: Sequence[Contents], need: Need) -> Contents:
    """The one to open, of at least one."""
    return max(
        stored,
        key=lambda one: (
            min(one.has(need), ENOUGH[need]),
            one.requests,
            one.categories,
            one.loads,
            one.started_at,
        ),
    )


def why_text(chosen: Contents, need: Need, stored: int) -> str | None:
    """`The most informative of 4: 5 Ks next to plain decoding, 480 requests, …`.

    None where there was nothing to choose from.
    """
    if stored < 2:
        return None
    found = chosen.has(need)
    amounts = [
        f"{counted(found, need.value)} next to plain decoding"
        if found
        else f"no {need.value} next to plain decoding",
        counted(chosen.requests, "request"),
        counted(chosen.categories, "category", "categories"),
        *([counted(chosen.loads, "load")] if need is not Need.LOADS else []),
    ]
    return f"The most informative of {stored}: {', '.join(amounts)}."

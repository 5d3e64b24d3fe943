"""Arms that differ in K only."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from specviz.analysis.benchmark.results import ArmState
from specviz.errors import UsageError
from specviz.methods import Method


@dataclass(frozen=True, slots=True)
class Family:
    """Arms that differ in K only, by K. `label` names them without their K."""

    label: str
    arms: tuple[ArmState, ...]

    @property
    def is_baseline(self) -> bool:
        return self.arms[0].method == Method.BASELINE


def families(arms: Sequence[ArmState]) -> list[Family]:
    """The arms by family, in the order of their first arms in the plan."""
    groups: dict[tuple[str, str, str | None, str | None], list[ArmState]] = defaultdict(list)
    for arm in arms:
        groups[without_k(arm.arm), arm.engine, arm.model, arm.draft].append(arm)
    labels = [label for label, *_ in groups]
    return [
        Family(
            f"{label} · {engine}" if labels.count(label) > 1 and engine not in label else label,
            tuple(sorted(members, key=lambda arm: (arm.k or 0, arm.arm_index))),
        )
        for (label, engine, _, _), members in groups.items()
    ]


def with_most_ks(arms: Sequence[ArmState], method: str | None = None) -> Family:
    """The family with the most Ks, of that method if one is named; the first of the plan if several
    have as many. Raises UsageError where no such method has a K."""
    with_k = [arm for arm in arms if arm.k]
    asked = [arm for arm in with_k if method in (None, arm.method)]
    if not asked:
        named = sorted({arm.method for arm in with_k}) or ["none"]
        raise UsageError(
            f"The benchmark has no {method or 'method'} with a K: it has {', '.join(named)}."
        )
    return max(families(asked), key=lambda family: len(family.arms))


def without_k(name: str) -> str:
    """An arm's name as its family has it: `eagle3` of `eagle3 · K 5`."""
    return re.sub(r" · K \d+", "", name)

"""Arms that differ in K only."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from specviz.analysis.benchmark.results import ArmState
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


def without_k(name: str) -> str:
    """An arm's name as its family has it: `eagle3` of `eagle3 · K 5`."""
    return re.sub(r" · K \d+", "", name)

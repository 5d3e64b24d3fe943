"""Arms that differ in K only."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from specviz.analysis.benchmark.results import ArmState
from specviz.config import AT_ZERO
from specviz.errors import UsageError
from specviz.methods import Method


@dataclass(frozen=True, slots=True)
class Family:
    """Arms that differ in K only, by K. `label` names them without their K. `at_zero`: an arm with
    the same draft whose schedule allows no draft token."""

    label: str
    arms: tuple[ArmState, ...]
    at_zero: ArmState | None = None

    @property
    def is_baseline(self) -> bool:
        return self.arms[0].method == Method.BASELINE

    @property
    def is_at_zero(self) -> bool:
        """Whether its servers draft nothing although they have a K."""
        return AT_ZERO in self.arms[0].arm.split(" · ")


def families(arms: Sequence[ArmState]) -> list[Family]:
    """The arms by family, in the order of their first arms in the plan."""
    groups: dict[tuple[str, str, str | None, str | None], list[ArmState]] = defaultdict(list)
    for arm in arms:
        groups[without_k(arm.arm), arm.engine, arm.model, arm.draft].append(arm)
    labels = [label for label, *_ in groups]
    first = {family: members[0] for family, members in groups.items()}
    return [
        Family(
            f"{label} · {engine}" if labels.count(label) > 1 and engine not in label else label,
            tuple(sorted(members, key=lambda arm: (arm.k or 0, arm.arm_index))),
            at_zero=first.get((f"{label} · {AT_ZERO}", engine, model, draft)),
        )
        for (label, engine, model, draft), members in groups.items()
    ]


def with_most_ks(arms: Sequence[ArmState], method: str | None = None) -> Family:
    """The family with the most Ks, of that method if one is named; the first of the plan if several
    have as many. Raises UsageError where no such method has a K."""
    with_k = [one for one in families([arm for arm in arms if arm.k]) if not one.is_at_zero]
    asked = [family for family in with_k if method in (None, family.arms[0].method)]
    if not asked:
        named = sorted({family.arms[0].method for family in with_k}) or ["none"]
        raise UsageError(
            f"The benchmark has no {method or 'method'} with a K: it has {', '.join(named)}."
        )
    return max(asked, key=lambda family: len(family.arms))


def without_k(name: str) -> str:
    """An arm's name as its family has it: `eagle3` of `eagle3 · K 5`."""
    return re.sub(r" · K \d+", "", name)

"""K by batch size: the one thing of a policy that every server's own schedule can say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from specviz.deploy.launch import Remark
from specviz.errors import UsageError
from specviz.policy.policy import Policy

OTHERS = "temperature, top-p, the kind of prompt, or a K of a single request"
"""What no server's schedule knows."""


@dataclass(frozen=True, slots=True)
class Step:
    """Batch sizes `first` to `last` use `k`; the last step is also for more."""

    first: int
    last: int
    k: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """One framework's schedule. `option`: what goes into its command or configuration, in the
    framework's own words. `files` by name, with their content. `cannot`: a sentence, what of the
    policy it cannot express. `source`: where its form was read."""

    framework: str
    version: str
    option: str
    cannot: str
    source: str
    files: dict[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "framework": self.framework,
            "version": self.version,
            "option": self.option,
            "files": self.files,
            "cannot": self.cannot,
            "source": self.source,
            "warnings": [remark.to_dict() for remark in self.remarks],
        }


def steps_of(
    policy: Policy, temperature: float, top_p: float = 1.0, category: str | None = None
) -> tuple[Step, ...]:
    """The row of such requests, neighbours with one K joined.

    Raises UsageError where it speculates at no batch size: there is nothing to schedule.
    """
    row = policy.row(temperature, top_p, category)
    steps: list[Step] = []
    first = 1
    for last, k in zip(policy.requests_running, row.k, strict=True):
        if steps and steps[-1].k == k:
            steps[-1] = Step(steps[-1].first, last, k)
        else:
            steps.append(Step(first, last, k))
        first = last + 1
    if not any(step.k for step in steps):
        raise UsageError(
            f"The policy speculates at no batch size for requests at temperature {temperature:g}: "
            "leave speculation off."
        )
    return tuple(steps)

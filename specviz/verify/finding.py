"""What one check found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

Figure = int | float | str | None


class Outcome(StrEnum):
    HOLDS = "holds"
    FAILS = "fails"
    NOT_MEASURED = "not measured"  # it could have been: the sentence says what is missing
    NOT_REPORTED = "not reported"  # this kind of server has nothing to check here


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    `found`: the figures that `detail` rests on. `expected`: under the same names, what a correct
    server gives, in words where it is a range; empty where nothing is held against a figure.
    """

    name: str
    title: str
    outcome: Outcome
    detail: str
    found: Mapping[str, Figure] = field(default_factory=dict)
    expected: Mapping[str, Figure] = field(default_factory=dict)

    @property
    def holds(self) -> bool | None:
        """None: it was not measured, or there is nothing to measure."""
        return {Outcome.HOLDS: True, Outcome.FAILS: False}.get(self.outcome)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


def exit_code(findings: Iterable[Finding]) -> int:
    """0: all hold, 1: something does not, 2: something could not be measured."""
    outcomes = {finding.outcome for finding in findings}
    if Outcome.FAILS in outcomes:
        return 1
    return 2 if Outcome.NOT_MEASURED in outcomes else 0

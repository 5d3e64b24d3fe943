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
    """One line of the report: `check` is its name in JSON, `figures` what the sentence rests on."""

    check: str
    title: str
    outcome: Outcome
    sentence: str
    figures: Mapping[str, Figure] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def exit_code(findings: Iterable[Finding]) -> int:
    """0: all hold, 1: something does not, 2: something could not be measured."""
    outcomes = {finding.outcome for finding in findings}
    if Outcome.FAILS in outcomes:
        return 1
    return 2 if Outcome.NOT_MEASURED in outcomes else 0

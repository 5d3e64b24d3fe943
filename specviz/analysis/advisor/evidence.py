"""What an answer or a figure rests on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    MEASURED = "measured here"
    PUBLISHED = "published"
    RULE = "rule of thumb"
    TYPED = "entered by you"


@dataclass(frozen=True, slots=True)
class Evidence:
    """`text` names the source: a benchmark, a document and its section, a server, a file."""

    kind: Kind
    text: str

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.text}" if self.text else self.kind.value


TYPED = Evidence(Kind.TYPED, "")


@dataclass(frozen=True, slots=True)
class Figure:
    """One expected figure; `low` and `high` are its 95 % interval where there is one."""

    name: str
    value: float
    unit: str
    evidence: Evidence
    low: float | None = None
    high: float | None = None

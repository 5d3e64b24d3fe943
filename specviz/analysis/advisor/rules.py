"""The documents' rules of thumb, read from the published tables: no threshold is in the code."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from specviz.analysis.advisor.evidence import Evidence, Kind
from specviz.methods import TECHNIQUES, Method
from specviz.reference import published

COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One comparison, as published: it fires where `value comparison threshold` holds."""

    name: str
    comparison: str
    threshold: float
    evidence: Evidence

    def fires(self, value: float) -> bool:
        return COMPARE[self.comparison](value, self.threshold)


@dataclass(frozen=True, slots=True)
class SloRow:
    """One line of the documents' SLO table; `limit_ms` is of TPOT P95, None for other aims."""

    slo: str
    limit_ms: float | None
    techniques: str
    k: int
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Guideline:
    """K from `low` to `high` in one situation."""

    situation: str
    low: int
    high: int
    evidence: Evidence


@cache
def rule(name: str) -> Rule:
    """A rule with a number. Raises KeyError for one that the table does not have."""
    row = _row("rules", "rule", name)
    return Rule(name, str(row["comparison"]), float(row["value"]), _evidence(row, Kind.RULE))


@cache
def rule_evidence(name: str) -> Evidence:
    """Where a rule is from, with or without a number."""
    return _evidence(_row("rules", "rule", name), Kind.RULE)


@cache
def retrained() -> frozenset[Method]:
    """Methods that must be trained again when the target model changes."""
    table = published("training")
    needed = table[table["retraining"] == "required"]["technique"]
    return frozenset(TECHNIQUES[name] for name in needed if name in TECHNIQUES)


@cache
def slo_rows() -> tuple[SloRow, ...]:
    """The documents' SLO table in its order."""
    return tuple(
        SloRow(
            str(row["slo"]),
            _limit_ms(str(row["slo"])),
            str(row["technique"]),
            int(row["num_speculative_tokens"]),
            Evidence(Kind.PUBLISHED, _where(row)),
        )
        for row in published("slo").to_dict("records")
    )


@cache
def guidelines() -> dict[str, Guideline]:
    """K by situation, by the table's own words."""
    return {
        str(row["situation"]): Guideline(
            str(row["situation"]),
            int(row["k_low"]),
            int(row["k_high"]),
            Evidence(Kind.RULE, f"{_reason(row)} ({_where(row)})"),
        )
        for row in published("k_guidelines").to_dict("records")
    }


@cache
def rows(table: str) -> tuple[dict[str, Any], ...]:
    """A published table as dictionaries, read once."""
    return tuple(published(table).to_dict("records"))


def where(row: dict[str, Any]) -> str:
    """`document, section` of a published row."""
    return _where(row)


def _reason(row: dict[str, Any]) -> str:
    """The reason given; without one the field is NaN, then the situation itself."""
    return str(row["reason"] if isinstance(row["reason"], str) else row["situation"])


def _row(table: str, column: str, name: str) -> dict[str, Any]:
    return {str(row[column]): row for row in rows(table)}[name]


def _evidence(row: dict[str, Any], kind: Kind) -> Evidence:
    return Evidence(kind, f"{row['text']} ({_where(row)})")


def _where(row: dict[str, Any]) -> str:
    return f"{row['document']}, {row['section']}"


def _limit_ms(slo: str) -> float | None:
    digits = "".join(sign for sign in slo.split("under")[-1] if sign.isdigit() or sign == ".")
    return float(digits) if "under" in slo and digits else None

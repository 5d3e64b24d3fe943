"""One question of the tree, its answer, what that rests on, and how far it is from flipping."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.analysis.advisor.evidence import Evidence
from specviz.analysis.advisor.rules import Rule


@dataclass(frozen=True, slots=True)
class Unit:
    """How values are written: 0.45 as `45 %` with `scale` 100, 1 as `1.0` with `point`."""

    suffix: str = ""
    scale: float = 1.0
    point: bool = False

    def text(self, value: float) -> str:
        number = f"{self.scale * value:,.4g}"
        if self.point and "." not in number:
            number += ".0"
        return f"{number}{self.suffix}"


PLAIN = Unit()
DEGREE = Unit(point=True)
PERCENT = Unit(" %", 100.0)
TOKENS = Unit(" tokens")
GB = Unit(" GB")
TIMES = Unit("×")


@dataclass(frozen=True, slots=True)
class Node:
    """One question. `answer` None: not known, or too close to call.

    `source` is what the value rests on, `rule` where the threshold is from. `distance` is how far
    `value` is from the point where the answer changes, in the unit of the value; None where the
    answer is a plain yes or no. `inclusive`: the answer changes at that point, not beyond it.
    """

    id: str
    question: str
    answer: bool | None
    source: Evidence | None
    rule: Evidence | None
    value: float | None = None
    threshold: float | None = None
    unit: Unit = PLAIN
    distance: float | None = None
    inclusive: bool = False
    flip: str = ""
    on_path: bool = False

    @property
    def answer_text(self) -> str:
        return "not known" if self.answer is None else ("yes" if self.answer else "no")

    @property
    def value_text(self) -> str:
        return "" if self.value is None else self.unit.text(self.value)


_AT = {(">", True), (">=", False), ("<", True), ("<=", False)}
"""Comparisons whose answer changes at the threshold itself, by the answer that they gave."""


def threshold_node(
    node_id: str, quantity: str, rule: Rule, unit: Unit, value: float | None, source: Evidence
) -> Node:
    """A question of a rule: yes where it fires."""
    question = f"{quantity} {_words(rule.comparison)} {unit.text(rule.threshold)}?"
    if value is None:
        return Node(
            node_id, question, None, None, rule.evidence, threshold=rule.threshold, unit=unit
        )
    answer = rule.fires(value)
    inclusive = (rule.comparison, answer) in _AT
    return Node(
        node_id,
        question,
        answer,
        source,
        rule.evidence,
        value,
        rule.threshold,
        unit,
        abs(value - rule.threshold),
        inclusive,
        _flip(rule, value, answer, inclusive, unit),
    )


def yes_no_node(
    node_id: str, question: str, rule: Evidence, answer: bool | None, source: Evidence
) -> Node:
    """A question without a number."""
    known = answer is not None
    flip = "flips with the answer" if known else ""
    return Node(node_id, question, answer, source if known else None, rule, flip=flip)


def _flip(rule: Rule, value: float, answer: bool, inclusive: bool, unit: Unit) -> str:
    """`0.4 from flipping: above 1`."""
    upward = (rule.comparison in (">", ">=")) is not answer
    beyond = ("at or above" if upward else "at or below") if inclusive else (
        "above" if upward else "below"
    )  # fmt: skip
    edge = f"flips {beyond} {unit.text(rule.threshold)}"
    if value == rule.threshold:
        return f"on the threshold: {edge}"
    points = Unit(" points", unit.scale) if unit.suffix == " %" else unit
    return f"{edge}, {points.text(abs(value - rule.threshold))} away"


def _words(comparison: str) -> str:
    return {"<": "below", "<=": "at most", ">": "above", ">=": "at least"}[comparison]

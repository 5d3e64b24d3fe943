"""How many answers pass each rule, with intervals and what is asked of the demo target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specviz.analysis.wilson import wilson_interval
from specviz.training.corpus import CATEGORIES
from specviz.training.judging.verdict import NAMES, RIGHT, RULES, Verdict

OVERALL = "overall"
BARS = {
    (NAMES, OVERALL): 0.98,
    (RIGHT, "structured_output"): 0.90,
    (RIGHT, "summarization"): 0.80,
    (RIGHT, "code_generation"): 0.75,
    (RIGHT, "short_qa"): 0.75,
    (RIGHT, "translation"): 0.70,
}
"""The share of answers that is asked for, by rule and category."""


@dataclass(frozen=True)
class Tally:
    """How many of the judged answers of a category pass a rule."""

    rule: str
    category: str
    judged: int
    passed: int

    @property
    def share(self) -> float:
        return self.passed / self.judged

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share."""
        low, high = wilson_interval(self.passed, self.judged)
        return float(low), float(high)

    @property
    def bar(self) -> float | None:
        """What is asked for, if something is."""
        return BARS.get((self.rule, self.category))


def tallies(found: Iterable[Verdict]) -> list[Tally]:
    """By rule and category, and the names overall; nothing where no answer was judged."""
    verdicts = list(found)
    counted = [
        _tally(rule, category, [v for v in verdicts if (v.rule, v.category) == (rule, category)])
        for rule in RULES
        for category in CATEGORIES
    ]
    names = _tally(NAMES, OVERALL, [v for v in verdicts if v.rule == NAMES])
    ordered = sorted([*counted, names], key=lambda tally: RULES.index(tally.rule))
    return [tally for tally in ordered if tally.judged]


def _tally(rule: str, category: str, verdicts: Sequence[Verdict]) -> Tally:
    return Tally(rule, category, len(verdicts), sum(verdict.passed for verdict in verdicts))

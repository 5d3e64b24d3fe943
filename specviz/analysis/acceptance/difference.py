"""Why two tools' acceptance of the same pair differ: what the definitions explain, and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specviz.analysis.acceptance.counts import Computed, Counts, computed
from specviz.analysis.acceptance.definitions import DEFINITIONS, Definition, Word
from specviz.analysis.acceptance.tools import Reported
from specviz.analysis.text import digits

SAME = 0.001
"""Figures this close, as a share of the larger, are called the same."""


@dataclass(frozen=True, slots=True)
class Report:
    """One arm: what it calls acceptance, and what is known of its drafts."""

    name: str
    reported: tuple[Reported, ...]
    counts: Counts

    def figures(self) -> dict[str, Computed]:
        """Every definition: as reported where the tool reports it, else from the counts."""
        said = {one.definition.key: Computed(one.value) for one in self.reported}
        return {**computed(self.counts), **said}

    def called(self, word: Word) -> tuple[Definition, float, str] | None:
        """What the tool calls the `word`: the definition, the value, the tool's own name for it.

        Of several the one that the tool calls so plainly, which is the first in `TOOLS`. A tool
        that reports none has the first definition that its counts give, without a name.
        """
        named = [one for one in self.reported if one.definition.word is word]
        if named:
            return named[0].definition, named[0].value, named[0].name
        figures = self.figures()
        for definition in DEFINITIONS:
            value = figures[definition.key].value
            if definition.word is word and value is not None:
                return definition, value, ""
        return None


@dataclass(frozen=True, slots=True)
class Difference:
    """Of one word: the figures as they are called, and a sentence on why they differ."""

    word: Word
    sentences: tuple[str, ...]


def differences(reference: Report, other: Report) -> list[Difference]:
    """One per word that both have a figure for."""
    found = []
    for word in Word:
        first, second = reference.called(word), other.called(word)
        if first is not None and second is not None:
            sentences = _sentences(reference, first, other, second)
            found.append(Difference(word, tuple(sentences)))
    return found


Called = tuple[Definition, float, str]


def _sentences(one: Report, first: Called, two: Report, second: Called) -> list[str]:
    definition, value, _ = first
    other_definition, other_value, _ = second
    head = [_said(one, first), _said(two, second)]
    if definition == other_definition:
        return [*head, _of_one_definition(value, other_value)]
    common = _common(definition, other_definition, one.figures(), two.figures())
    if common is None:
        return [*head, _no_common(one, two)]
    own = one.figures()[common.key].value or 0.0
    others = two.figures()[common.key].value or 0.0
    return [*head, _explained(common, own, others, other_value - value)]


def _said(report: Report, called: Called) -> str:
    definition, value, name = called
    source = f"reports {digits(value)} as “{name}”" if name else f"comes to {digits(value)}"
    return f"{report.name} {source}: {definition.name}, {definition.symbols}."


def _of_one_definition(value: float, other: float) -> str:
    if _same(value, other):
        return "One definition, and the same figure."
    return (
        f"One definition: it explains nothing of the difference of {_signed(other - value)}. Look "
        "at what was counted, and at the other reasons below."
    )


def _explained(common: Definition, own: float, others: float, apart: float) -> str:
    left = others - own
    head = (
        f"By one definition, {common.name} ({common.symbols}), they are {digits(own)} and "
        f"{digits(others)}. "
    )
    if _same(own, others):
        return f"{head}The definitions explain the whole difference of {_signed(apart)}."
    return (
        f"{head}Of the difference of {_signed(apart)}, the "
        f"definitions make {_signed(apart - left)}; {_signed(left)} is left for what was counted "
        "and for the other reasons below."
    )


def _no_common(one: Report, two: Report) -> str:
    """What would have to be in the files."""
    lacking = []
    for report in (one, two):
        missing = [found.lacks for found in report.figures().values() if found.lacks]
        if missing:
            lacking.append(f"{report.name} lacks {' and '.join(dict.fromkeys(missing))}")
    return f"Neither can be turned into the other: {'; '.join(lacking)}."


def _common(
    first: Definition,
    second: Definition,
    own: Mapping[str, Computed],
    others: Mapping[str, Computed],
) -> Definition | None:
    """A definition that both have a figure of: the table's first, which weighs every step alike."""
    both: Sequence[Definition] = [
        definition
        for definition in DEFINITIONS
        if definition.word is first.word
        and own[definition.key].value is not None
        and others[definition.key].value is not None
    ]
    return both[0] if both else None


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= SAME * max(abs(one), abs(other))


def _signed(value: float) -> str:
    """At most three digits, and no more than the figures have."""
    return f"{value:+.3f}".replace("-", "−")

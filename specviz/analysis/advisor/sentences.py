"""A recommendation in sentences, the same in a terminal and on a page."""

from __future__ import annotations

from specviz.analysis.advisor.branches import Speculate
from specviz.analysis.advisor.evidence import Evidence, Figure, Kind
from specviz.analysis.advisor.k import KChoice
from specviz.analysis.advisor.recommend import Reason, Recommendation
from specviz.analysis.advisor.technique import technique_name
from specviz.analysis.benchmark.results import Speedup
from specviz.analysis.text import counted, digits
from specviz.analysis.verdict import Verdict, gain_text
from specviz.methods import Method


def headline(found: Recommendation) -> str:
    """`On: EAGLE-3, K 5: 1.52× faster output (1.32 to 1.74)`, or what has to be done first."""
    gain = gain_of(found)
    if gain is None:
        return decision(found)
    if found.speculate is Speculate.UNDECIDED and found.measured:
        return f"Undecided: {gain}, {found.measured.verdict_text}"
    return f"{decision(found)}: {gain}"


def decision(found: Recommendation) -> str:
    """What to do: `On: EAGLE-3, K 5`, `Off: slower here`, `Undecided: measure EAGLE-3, K 5`."""
    leaf = found.leaf
    if found.speculate is Speculate.OFF:
        return leaf.label if leaf and leaf.label.startswith("Off") else "Off: optimise batching"
    technique = _technique(found)
    if found.speculate is Speculate.ON:
        return f"On: {technique}" if technique else "On, technique not decided"
    if _decided_by(found):
        return f"Undecided: measure {technique} longer" if technique else "Undecided"
    if leaf is None:
        first = found.missing[0].label if found.missing else ""
        return f"Undecided: {first} is not known" if first else "Undecided"
    return f"Undecided: measure {technique}" if technique else "Undecided: measure"


def gain_of(found: Recommendation) -> str | None:
    """The measured speed-up that decides, with its interval; None where nothing was measured."""
    speedup = _decided_by(found)
    if speedup is None or found.speculate is Speculate.OFF:
        return None
    return gain_text(speedup.ratio, speedup.low, speedup.high)


def certainty(found: Recommendation) -> str:
    """How sure the recommendation is, in one sentence."""
    if (speedup := found.measured) is not None:
        if speedup.verdict is Verdict.UNDECIDED:
            return f"Measured, but {speedup.verdict_text}."
        return f"Measured over {speedup.prompts} prompts: the 95 % interval does not include 1."
    if found.leaf is None:
        return "Not decided by the answers so far."
    open_ones = len(found.missing)
    rest = f"; {counted(open_ones, 'open question')} could change it" if open_ones else ""
    return f"By rules of thumb, nothing was measured{rest}."


def _decided_by(found: Recommendation) -> Speedup | None:
    """The measured speed-up, where it has an interval."""
    return found.measured if found.measured and found.measured.low is not None else None


def _technique(found: Recommendation) -> str:
    if found.technique is None:
        return ""
    others = "".join(f" or {technique_name(other)}" for other in _named_together(found))
    return f"{found.technique}{others}" + (f", K {found.k.k}" if found.k else "")


def _named_together(found: Recommendation) -> tuple[Method, ...]:
    """The documents name two techniques for one leaf; a benchmark names one, the others follow."""
    return () if found.leaf and found.leaf.id == "best_measured" else found.alternatives


def k_text(k: KChoice) -> str:
    """`5, from 5 to 8`."""
    return f"{k.k}" if k.low == k.high else f"{k.k}, from {k.low} to {k.high}"


def figure_text(figure: Figure) -> str:
    """`1.78 to 2.15× (1.96×)`."""
    unit = figure.unit if figure.unit in ("", "×") else f" {figure.unit}"
    text = f"{digits(figure.value)}{unit}"
    if figure.low is None or figure.high is None:
        return text
    return f"{digits(figure.low)} to {digits(figure.high)}{unit} ({text})"


def reason_text(reason: Reason) -> str:
    """A reason with what it rests on."""
    return (
        reason.text
        if reason.evidence is None
        else f"{reason.text} ({evidence_text(reason.evidence)})"
    )


def evidence_text(evidence: Evidence) -> str:
    """Its kind and source."""
    return evidence.kind.value if evidence.kind is Kind.TYPED else str(evidence)

"""How many draft tokens per step: measured, else by the aim, the text, the draft, in that order."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.evidence import Evidence, Kind
from specviz.analysis.advisor.measured import Option, plateau
from specviz.analysis.advisor.rules import Guideline, SloRow, guidelines, rule
from specviz.analysis.text import percent
from specviz.methods import Method

_BY_TEXT = {"code_generation": "code generation", "creative_writing": "creative text"}


@dataclass(frozen=True, slots=True)
class KChoice:
    """`k` from a range of equally good ones, both ends included."""

    k: int
    low: int
    high: int
    evidence: Evidence


def measured_k(chosen: Option, options: tuple[Option, ...], evidence: Evidence) -> KChoice | None:
    """The K of the best option, and the range of those as good. None: it has no K."""
    span = plateau(options, chosen)
    if span is None or chosen.k is None:
        return None
    return KChoice(chosen.k, *span, evidence)


def rule_of_k(deployment: Deployment, method: Method, row: SloRow | None) -> KChoice:
    """The documents' K: the SLO table's where it names the method, else a guideline's low end.

    The low end, because memory and wasted drafts grow with K and the gain there hardly does.
    """
    found = guideline(deployment, method)
    if row is not None:
        low, high = min(found.low, row.k), max(found.high, row.k)
        return KChoice(row.k, low, high, row.evidence)
    return KChoice(found.low, found.low, found.high, found.evidence)


def guideline(deployment: Deployment, method: Method) -> Guideline:
    """By the kind of text, by the strength of the draft where its acceptance is known, or the
    optimum of the published sensitivity, which is EAGLE-3's.

    A draft is taken as strong from the acceptance on that the documents aim at; they do not say
    themselves from where on one is.
    """
    table = guidelines()
    if deployment.text in _BY_TEXT:
        return table[_BY_TEXT[deployment.text]]
    if deployment.acceptance is not None:
        aim = rule("acceptance_aim")
        found = table["strong draft" if aim.fires(deployment.acceptance) else "weak draft"]
        side = "at or above" if aim.fires(deployment.acceptance) else "below"
        text = (
            f"{found.situation}: acceptance {side} {percent(aim.threshold)}; {found.evidence.text}"
        )
        return Guideline(found.situation, found.low, found.high, Evidence(Kind.RULE, text))
    return table["optimum" if method is Method.EAGLE3 else "tuning"]

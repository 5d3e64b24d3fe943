"""Greedy answers: equal to the baseline's, or parted at a near tie of the target's best two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from specviz.analysis.lossless import compare
from specviz.analysis.text import counted
from specviz.verify.evidence import Greedy
from specviz.verify.finding import Figure, Finding, Outcome

NEAR_TIE = 0.125
"""Difference of log-probabilities: the step between bfloat16 logits of 16 to 32."""

MOST_TIED = 0.2
"""Share of answers that rounding may part. Another model parts at near ties as well, and often: it
agrees with the baseline where that is sure."""


class Match(StrEnum):
    """How one answer compares with the baseline's."""

    EQUAL = "equal"
    NEAR_TIE = "near ties"
    PARTED = "parted"
    NOT_JUDGED = "not judged"


def greedy(
    name: str, title: str, baseline: Sequence[Greedy], speculating: Sequence[Greedy]
) -> Finding:
    """Both in the order of the same prompts."""
    pairs = list(zip(baseline, speculating, strict=True))
    matches = [matched(*pair) for pair in pairs]
    counts = Counter(match for match, _ in matches)
    tokens = sum(len(other.trace.emitted) for _, other in pairs)
    figures = {"answers": len(pairs), "tokens": tokens} | {
        match.value.replace(" ", "_"): counts[match] for match in Match
    }
    tied = max(1, int(MOST_TIED * len(pairs)))
    expected: dict[str, Figure] = {"parted": 0, "near_ties": f"at most {tied}"}
    said = f"{counts[Match.EQUAL]} of {counted(len(pairs), 'answer')} equal over {tokens:,} tokens"
    if counts[Match.NEAR_TIE]:
        said = f"{said}, {counts[Match.NEAR_TIE]} parted at a near tie"
    if counts[Match.PARTED]:
        first = next(reason for match, reason in matches if match is Match.PARTED)
        sentence = f"{said}, {counts[Match.PARTED]} parted. The first: {first}."
        return Finding(name, title, Outcome.FAILS, sentence, figures, expected)
    if counts[Match.NEAR_TIE] > tied:
        sentence = f"{said}: too many for rounding, so the models probably differ."
        return Finding(name, title, Outcome.FAILS, sentence, figures, expected)
    if counts[Match.NOT_JUDGED]:
        sentence = (
            f"{said}; {counts[Match.NOT_JUDGED]} parted, and the baseline reports no "
            "log-probabilities, by which a near tie differs from a mistake."
        )
        return Finding(name, title, Outcome.NOT_MEASURED, sentence, figures, expected)
    return Finding(name, title, Outcome.HOLDS, f"{said}.", figures, expected)


def matched(baseline: Greedy, speculating: Greedy) -> tuple[Match, str]:
    """How the answers compare, and what is wrong, if something is."""
    plain, other = baseline.trace, speculating.trace
    name = baseline.prompt.prompt_id or "the prompt"
    if plain.prompt_token_ids != other.prompt_token_ids:
        return Match.PARTED, f"the servers read {name} as different tokens"
    found = compare(plain, other)
    if found is None:  # ids unknown
        return (Match.EQUAL if plain.text == other.text else Match.NOT_JUDGED), ""
    if found.equal:
        same = plain.text == other.text
        return (Match.EQUAL, "") if same else (Match.PARTED, f"{name} has another text")
    place = found.compared if found.divergence is None else found.divergence
    if place >= len(baseline.gaps):
        return Match.NOT_JUDGED, ""
    gap = baseline.gaps[place]
    if gap <= NEAR_TIE:
        return Match.NEAR_TIE, ""
    return Match.PARTED, (
        f"{name} parts at token {place + 1}, where the best token is {gap:.2f} above the second "
        "(log-probability)"
    )

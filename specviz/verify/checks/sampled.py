"""Sampled answers: does the speculating server draw from the baseline's distribution?"""

from __future__ import annotations

from collections.abc import Sequence

from specviz.analysis.text import percent
from specviz.verify.evidence import Answered, Drawn
from specviz.verify.finding import Finding, Outcome
from specviz.verify.same_distribution import ALPHA, Asked, same_distribution

NAME, TITLE = "sampling", "Sampled answers follow the baseline's distribution"


def sampled(baseline: Answered, speculating: Answered, temperature: float) -> Finding:
    prompts = compared(baseline, speculating)
    if not prompts:
        sentence = "No sampled answers came back."
        return Finding(NAME, TITLE, Outcome.NOT_MEASURED, sentence)
    found = same_distribution(prompts)
    figures = {
        "temperature": temperature,
        "prompts": len(prompts),
        "answers_each": found.answers,
        "p_value": found.p_value,
        "noticed_share": found.noticed_share,
    }
    expected = {"p_value": f"at least {ALPHA:g}"}
    power = (
        "too few to notice even a server that never samples"
        if found.noticed_share is None
        else "enough to notice, four times in five, if "
        f"{percent(found.noticed_share)} of them were greedy"
    )
    asked = f"{found.answers} answers each at temperature {temperature:g}"
    if found.differs:
        sentence = (
            f"They do not: {asked} differ more than when they are shuffled "
            f"(p = {found.p_value:.4f})."
        )
        return Finding(NAME, TITLE, Outcome.FAILS, sentence, figures, expected)
    sentence = f"No difference in {asked} (p = {found.p_value:.2f}); {power}."
    outcome = Outcome.NOT_MEASURED if found.noticed_share is None else Outcome.HOLDS
    return Finding(NAME, TITLE, outcome, sentence, figures, expected)


def compared(baseline: Answered, speculating: Answered) -> list[Asked]:
    """The answers as token ids, or as characters where one of the servers streams no ids: shuffling
    is sound on either, and tokens notice more."""
    answers = [drawn for side in (baseline, speculating) for one in side.sampled for drawn in one]
    has_ids = all(drawn.token_ids or not drawn.text for drawn in answers)

    def units(token_ids: Sequence[int], text: str) -> Sequence[int]:
        return token_ids if has_ids else [ord(character) for character in text]

    def all_units(drawn: Sequence[Drawn]) -> list[Sequence[int]]:
        return [units(one.token_ids, one.text) for one in drawn]

    sides = zip(baseline.sampled, speculating.sampled, speculating.greedy, strict=False)
    found = []
    for plain, other, greedy in sides:
        first, second = all_units(plain), all_units(other)
        longest = max(map(len, [*first, *second]), default=0)
        if longest:
            best = units(greedy.trace.token_ids, greedy.trace.text)[:longest]
            found.append(Asked(first, second, best))
    return found

"""Sampled answers: does the speculating server draw from the baseline's distribution?"""

from __future__ import annotations

from specviz.analysis.same_distribution import ALPHA, Asked, same_distribution
from specviz.analysis.text import percent
from specviz.verify.evidence import Answered
from specviz.verify.finding import Finding, Outcome

CHECK, TITLE = "sampling", "Sampled answers follow the baseline's distribution"


def sampled(baseline: Answered, speculating: Answered, temperature: float) -> Finding:
    longest = max((len(one) for prompt in baseline.sampled for one in prompt), default=0)
    prompts = [
        Asked(plain, other, greedy.trace.token_ids[:longest])
        for plain, other, greedy in zip(
            baseline.sampled, speculating.sampled, speculating.greedy, strict=False
        )
        if any(plain) and any(other)
    ]
    if not prompts:
        sentence = "The servers stream no token ids, so that answers cannot be compared."
        return Finding(CHECK, TITLE, Outcome.NOT_MEASURED, sentence)
    found = same_distribution(prompts)
    figures = {
        "temperature": temperature,
        "prompts": len(prompts),
        "answers_each": found.answers,
        "p_value": found.p_value,
        "alpha": ALPHA,
        "noticed_share": found.noticed_share,
    }
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
        return Finding(CHECK, TITLE, Outcome.FAILS, sentence, figures)
    sentence = f"No difference in {asked} (p = {found.p_value:.2f}); {power}."
    outcome = Outcome.NOT_MEASURED if found.noticed_share is None else Outcome.HOLDS
    return Finding(CHECK, TITLE, outcome, sentence, figures)

"""How a drafted token was judged, in words, as in the token strip's inspector."""

from __future__ import annotations

from specviz.trace import ROOT, Step, TokenDecision, Verdict

CLOSE = 1e-5
"""Servers compare in float32, some of them logarithms."""


def judgement_text(step: Step, place: int, *, typical: bool = False) -> str | None:
    """The rule with its numbers, or why there was none; None where nothing is known.

    `typical`: medusa's typical acceptance at temperature above 0, which draws no `u` either.
    """
    token = step.drafted[place]
    if token.verdict is Verdict.UNVERIFIED:
        return f"not judged: {reason_unverified(step, place)}"
    if token.accept_prob is None:
        return None
    if token.u is None:
        question = "typical enough for the target" if typical else "target's first choice"
        return f"{question}: {'yes' if token.accept_prob >= 1 else 'no'}"
    comparison = _comparison(token.u, token.accept_prob)
    if token.verdict is Verdict.ACCEPTED and token.u > token.accept_prob + CLOSE:
        return f"{comparison}; accepted with a longer part of the draft (block verification)"
    return comparison


def reason_unverified(step: Step, place: int) -> str:
    """Why a token of the draft was not judged, as a sentence part."""
    parent = step.drafted[place].parent
    siblings = [token for token in step.drafted if token.parent == parent]
    if any(token.verdict is Verdict.ACCEPTED for token in siblings):
        return "another candidate was accepted here"
    left = parent != ROOT and step.drafted[parent].verdict is Verdict.UNVERIFIED
    if left and not is_chain(step):
        return "its branch was left"
    return "an earlier token was rejected"


def is_chain(step: Step) -> bool:
    """Whether every drafted token follows the one before it."""
    return all(token.parent == place - 1 for place, token in enumerate(step.drafted))


def candidate_text(step: Step, token: TokenDecision) -> str:
    """Which of the candidates at its place a token is, in the order of judgement: `2 of 3`."""
    siblings = [other for other in step.drafted if other.parent == token.parent]
    place = next(index for index, other in enumerate(siblings) if other is token)
    return f"{place + 1} of {len(siblings)}"


def _comparison(u: float, accept_prob: float) -> str:
    """Both numbers, with as many decimals as it takes to distinguish them."""
    sign = "≤" if u <= accept_prob else ">"
    for decimals in (2, 4, 6):
        left, right = f"{u:.{decimals}f}", f"{accept_prob:.{decimals}f}"
        if left != right:
            break
    return f"u {left} {sign} {right}"

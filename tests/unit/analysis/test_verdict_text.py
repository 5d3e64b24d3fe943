"""What decided a drafted token, in words."""

from __future__ import annotations

from specviz.analysis.verdict_text import judgement_text
from specviz.trace import ROOT, Step, TokenDecision, Verdict


def judged(verdict: Verdict, u: float, accept_prob: float) -> str | None:
    token = TokenDecision(1, ROOT, 5, "five", verdict, 0.5, 0.3, accept_prob, u)
    return judgement_text(Step(0, 1.0, (token,), ()), 0)


def test_a_draw_is_compared_with_the_acceptance_probability() -> None:
    assert judged(Verdict.ACCEPTED, 0.25, 0.6) == "u 0.25 ≤ 0.60"
    assert judged(Verdict.REJECTED, 0.75, 0.6) == "u 0.75 > 0.60"


def test_block_verification_accepts_a_token_with_what_follows_it() -> None:
    assert judged(Verdict.ACCEPTED, 0.75, 0.6) == (
        "u 0.75 > 0.60; accepted with a longer part of the draft (block verification)"
    )

"""Verdicts of block verification: a token is accepted with a longer part of the draft."""

from __future__ import annotations

from typing import Any

from specviz.trace import Step, Verdict
from specviz.verify.checks.verdicts import contradictions
from tests.support.evidence_made import judged, traced


def found(*tokens: Any, blockwise: bool = True) -> list[str]:
    return list(contradictions([traced(Step(0, 1.0, tokens, ()))], blockwise=blockwise))


def token(verdict: Verdict, u: float, accept_prob: float) -> Any:
    """min(1, target_prob / draft_prob) is 1 of each; block verification's is of the prefix."""
    return judged(
        11, verdict, draft_prob=0.5, target_prob=0.5, accept_prob=accept_prob, u=u
    )  # fmt: skip


CARRIED = token(Verdict.ACCEPTED, 0.9, 0.4)
DECIDING = token(Verdict.ACCEPTED, 0.2, 0.4)
REJECTED = token(Verdict.REJECTED, 0.9, 0.4)


def test_a_token_before_the_deciding_one_may_have_any_draw() -> None:
    assert found(CARRIED, DECIDING, REJECTED) == []
    assert len(found(CARRIED, DECIDING, REJECTED, blockwise=False)) == 3


def test_the_deciding_draw_and_the_rejected_one_must_follow() -> None:
    assert len(found(DECIDING, CARRIED, REJECTED)) == 1
    assert len(found(DECIDING, token(Verdict.REJECTED, 0.2, 0.4))) == 1

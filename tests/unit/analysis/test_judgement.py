"""The words on a judgement."""

from __future__ import annotations

from dataclasses import replace

from specviz.analysis.text import probability_text
from specviz.analysis.verdict_text import (
    candidate_text,
    is_chain,
    judgement_text,
    reason_unverified,
)
from specviz.trace import ROOT, Step, TokenDecision, Verdict

A, R, U = Verdict.ACCEPTED, Verdict.REJECTED, Verdict.UNVERIFIED


def step(*nodes: tuple[int, int, Verdict]) -> Step:
    drafted = tuple(TokenDecision(depth, parent, 1, "x", v) for depth, parent, v in nodes)
    return Step(0, 0.0, drafted, ())


CHAIN = step((1, ROOT, R), (2, 0, U), (3, 1, U))
TREE = step((1, ROOT, R), (1, ROOT, A), (1, ROOT, U), (2, 0, U), (3, 3, U))


def test_why_a_token_was_not_judged() -> None:
    assert is_chain(CHAIN) and not is_chain(TREE)
    assert reason_unverified(CHAIN, 1) == "an earlier token was rejected"
    assert reason_unverified(CHAIN, 2) == "an earlier token was rejected"
    assert reason_unverified(TREE, 2) == "another candidate was accepted here"
    assert reason_unverified(TREE, 3) == "an earlier token was rejected"
    assert reason_unverified(TREE, 4) == "its branch was left"
    assert judgement_text(TREE, 4) == "not judged: its branch was left"


def judged(verdict: Verdict, accept_prob: float | None, u: float | None) -> Step:
    token = TokenDecision(1, ROOT, 1, "x", verdict, accept_prob=accept_prob, u=u)
    return replace(CHAIN, drafted=(token,))


def test_the_rule_with_its_numbers() -> None:
    assert judgement_text(judged(A, 0.5, 0.25), 0) == "u 0.25 ≤ 0.50"
    assert judgement_text(judged(R, 0.5, 0.75), 0) == "u 0.75 > 0.50"
    assert judgement_text(judged(R, 0.3001, 0.3004), 0) == "u 0.3004 > 0.3001"
    assert judgement_text(judged(A, 1.0, None), 0) == "target's first choice: yes"
    assert judgement_text(judged(R, 0.0, None), 0) == "target's first choice: no"
    assert judgement_text(judged(A, 1.0, None), 0, typical=True) == (
        "typical enough for the target: yes"
    )
    assert judgement_text(judged(R, None, None), 0) is None


def test_which_candidate_it_is() -> None:
    assert [candidate_text(TREE, token) for token in TREE.drafted] == [
        "1 of 3",
        "2 of 3",
        "3 of 3",
        "1 of 1",
        "1 of 1",
    ]


def test_probabilities() -> None:
    assert probability_text(None) is None
    assert [probability_text(p) for p in (0.0, 1e-9, 0.0005, 0.61249, 1.0)] == [
        "0.000",
        "<0.001",
        "0.001",
        "0.612",
        "1.000",
    ]

"""Does every verdict follow from the probabilities and the random number that were recorded?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from specviz.trace import Fidelity, Step, TokenDecision, Trace, Verdict
from specviz.verify.evidence import Speculated
from specviz.verify.finding import Finding, Outcome

NAME, TITLE = "verdicts", "Every verdict follows from its probabilities"

ROUNDING = 1e-4
"""Probabilities are 32-bit, and ratios of small ones lose digits."""


def verdicts(found: Speculated) -> Finding:
    server = found.answered.server
    traced = [trace for trace in found.traces if trace.fidelity is Fidelity.TRACED]
    if not traced:
        if server.dialect.trace is None:
            sentence = f"{server.dialect.name} does not report its decisions."
            return Finding(NAME, TITLE, Outcome.NOT_REPORTED, sentence)
        sentence = f"No answer was traced. {server.advice or ''}".strip()
        return Finding(NAME, TITLE, Outcome.NOT_MEASURED, sentence)
    judged = [
        token
        for trace in traced
        for step in trace.steps
        for token in step.drafted
        if token.verdict is not Verdict.UNVERIFIED
    ]
    drawn = sum(token.u is not None for token in judged)
    rule = server.capabilities.verifier
    wrong = list(contradictions(traced, blockwise=rule is not None and rule.name == "block"))
    figures = {"judged": len(judged), "drawn": drawn, "contradictions": len(wrong)}
    expected = {"contradictions": 0}
    if wrong:
        sentence = f"{len(wrong):,} of {len(judged):,} do not. The first: {wrong[0]}."
        return Finding(NAME, TITLE, Outcome.FAILS, sentence, figures, expected)
    sentence = f"{len(judged):,} verdicts do, {drawn:,} of them drawn with a random number."
    return Finding(NAME, TITLE, Outcome.HOLDS, sentence, figures, expected)


def contradictions(traces: Sequence[Trace], *, blockwise: bool = False) -> Iterator[str]:
    """What cannot be, in words, step by step.

    `blockwise`: by block verification (arXiv 2403.10444), whose probabilities are of prefixes; a
    token is accepted with a longer one, whatever its own draw was.
    """
    for trace in traces:
        for step in trace.steps:
            for problem in _problems(step, blockwise):
                yield f"step {step.index + 1} of request {trace.request_id}, {problem}"


def _problems(step: Step, blockwise: bool) -> Iterator[str]:
    """Of a chain: servers verify no trees."""
    is_over = False
    accepted = sum(token.verdict is Verdict.ACCEPTED for token in step.drafted)
    for place, token in enumerate(step.drafted):
        if is_over != (token.verdict is Verdict.UNVERIFIED):
            after = "after a rejection" if is_over else "before any rejection"
            yield f"{token.text!r} is {token.verdict} {after}"
        elif blockwise and place < accepted - 1 and token.u is not None:
            continue  # accepted with those behind it
        elif not is_over and (problem := _problem(token, blockwise)):
            yield problem
        is_over = is_over or token.verdict is not Verdict.ACCEPTED


def _problem(token: TokenDecision, blockwise: bool) -> str | None:
    accept_prob, u, name = token.accept_prob, token.u, repr(token.text)
    if accept_prob is None:
        return f"{name} has no acceptance probability"
    if u is None:
        return _greedy_problem(token)
    if not blockwise and token.target_prob is not None and token.draft_prob:
        ratio = min(1.0, token.target_prob / token.draft_prob)
        if abs(ratio - accept_prob) > ROUNDING * max(1.0, 1 / token.draft_prob):
            return f"{name} has {accept_prob:.4f}, and min(1, p / q) is {ratio:.4f}"
    accepted = token.verdict is Verdict.ACCEPTED
    if accepted != (u <= accept_prob) and abs(u - accept_prob) > ROUNDING:
        return f"{name} is {token.verdict} with u {u:.4f} against {accept_prob:.4f}"
    return None


def _greedy_problem(token: TokenDecision) -> str | None:
    """Nothing is drawn at temperature 0: the target's first choice is accepted, of equals any."""
    name, accepted = repr(token.text), token.verdict is Verdict.ACCEPTED
    if accepted != (token.accept_prob == 1.0):
        return f"{name} is {token.verdict} with an acceptance probability of {token.accept_prob}"
    if not token.target_top or token.target_prob is None:
        return None
    best = token.target_top[0]
    if accepted and token.target_prob < best.prob - ROUNDING:
        return f"{name} is accepted, and the target's first choice is {best.text!r}"
    if accepted or best.token_id != token.token_id:
        return None
    second = token.target_top[1].prob if len(token.target_top) > 1 else 0.0
    if best.prob - second <= ROUNDING:
        return None
    return f"{name} is rejected, and it is the target's first choice"

"""Does a method's greedy output equal plain decoding, and if not, where does it part?

Two correct engines can differ at a near tie (batch shape, floating point), so a divergence is
reported with its position and, where traced, the target's probabilities there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from specviz.trace import ROOT, EmittedToken, Fidelity, TopToken, Trace, Verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """`compared` tokens were looked at; `divergence` is the position of the first difference."""

    compared: int
    divergence: int | None
    baseline_text: str = ""
    method_text: str = ""
    target_top: tuple[TopToken, ...] = ()
    length_differs: bool = False

    @property
    def equal(self) -> bool:
        return self.divergence is None and not self.length_differs


def compare(baseline: Trace, method: Trace) -> Comparison | None:
    """Compare two outputs of the same prompt token by token.

    By ids; by the tokens' texts where neither server streams ids but both count their tokens. None
    where tokens are not known.
    """
    plain, speculated = baseline.emitted, method.emitted
    same = _same_by(baseline, method)
    if same is None:
        return None
    shared = min(len(plain), len(speculated))
    for position in range(shared):
        if not same(plain[position], speculated[position]):
            return Comparison(
                compared=shared,
                divergence=position,
                baseline_text=plain[position].text,
                method_text=speculated[position].text,
                target_top=_target_top_at(method, position),
            )
    return Comparison(shared, None, length_differs=len(plain) != len(speculated))


def _same_by(*traces: Trace) -> Callable[[EmittedToken, EmittedToken], bool] | None:
    """How to tell whether two tokens are the same one, None where that cannot be known."""
    named = [all(token.token_id is not None for token in trace.emitted) for trace in traces]
    if all(named):
        return lambda one, other: one.token_id == other.token_id
    if any(named) or any(trace.fidelity is not Fidelity.COUNTED for trace in traces):
        return None  # texts of chunks, or of tokens that two servers may cut differently
    return lambda one, other: one.text == other.text


def _target_top_at(trace: Trace, position: int) -> tuple[TopToken, ...]:
    """The target's best tokens at an output position, if a draft was judged there.

    A server that does not report its drafts still emits several tokens in a step.
    """
    for step in trace.steps:
        depth = position - step.emitted[0].position if step.emitted else -1
        if not 0 <= depth < len(step.emitted):
            continue
        path = [i for i, token in enumerate(step.drafted) if token.verdict is Verdict.ACCEPTED]
        if depth > len(path):
            return ()
        parent = path[depth - 1] if depth else ROOT
        judged = (token.target_top for token in step.drafted if token.parent == parent)
        return next((top for top in judged if top), ())
    return ()

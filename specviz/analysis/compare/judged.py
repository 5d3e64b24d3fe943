"""What the target thought where two answers part, as far as either was traced."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.analysis import lossless
from specviz.trace import TopToken, Trace


@dataclass(frozen=True, slots=True)
class JudgedThere:
    """The target's probability of either answer's token at the divergence.

    None: not among the most probable tokens that were traced; `least` is the smallest of those.
    """

    reference_prob: float | None
    other_prob: float | None
    least: float


def judged_there(reference: Trace, other: Trace) -> tuple[JudgedThere | None, JudgedThere | None]:
    """From the reference's trace and from the other's; None where a trace has none.

    A trace has it where a draft was judged at that place.
    """
    forth, back = lossless.compare(reference, other), lossless.compare(other, reference)
    if forth is None or back is None or forth.divergence is None:
        return None, None
    place = forth.divergence
    ids = reference.token_ids[place], other.token_ids[place]
    return _judged(back.target_top, *ids), _judged(forth.target_top, *ids)


def _judged(top: tuple[TopToken, ...], reference_id: int, other_id: int) -> JudgedThere | None:
    if not top:
        return None
    probs = {token.token_id: token.prob for token in top}
    return JudgedThere(probs.get(reference_id), probs.get(other_id), min(probs.values()))

"""Greedy answers: equal to the baseline's, or parted as its own rounding would part them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from specviz.analysis.lossless import compare
from specviz.analysis.text import counted
from specviz.verify.evidence import Answered, Greedy
from specviz.verify.finding import Figure, Finding, Outcome
from specviz.verify.rounding import Rounding, measured


@dataclass(frozen=True, slots=True)
class Compared:
    """One answer against the baseline's. `gaps`: how far the baseline's best token was above the
    second (log-probability) at each position that was compared.

    `parted`: where the answer is another one, None if it is not; the `gap` there, None if it is not
    known, inf if no rounding is the reason.
    """

    gaps: tuple[float, ...] = ()
    parted: str | None = None
    gap: float | None = None


def own_rounding(baseline: Answered) -> Rounding | None:
    """The baseline's rounding, None if it is not known: one slot computes every answer alone, twice
    in the same way."""
    if baseline.server.capabilities.slots == 1:
        return None
    return measured([(one.gaps, one.moves) for one in baseline.greedy])


def greedy(
    name: str,
    title: str,
    baseline: Sequence[Greedy],
    speculating: Sequence[Greedy],
    rounding: Rounding | None,
) -> Finding:
    """Both in the order of the same prompts. `rounding`: the baseline's own, None if it is not
    known. Another model parts where the baseline is sure, too often or too soon.
    """
    found = [compared(*pair) for pair in zip(baseline, speculating, strict=True)]
    equal = sum(one.parted is None for one in found)
    gaps = gaps_parted(found)
    wrong = [
        gap for gap in gaps if gap == inf or (rounding and not most_parted(found, rounding, gap))
    ]
    tied = len(gaps) - len(wrong) if rounding else 0
    unknown = len(found) - equal - len(wrong) - tied
    tokens = sum(len(other.trace.emitted) for other in speculating)
    figures: dict[str, Figure] = {
        "answers": len(found),
        "tokens": tokens,
        "equal": equal,
        "near_ties": tied,
        "parted": len(wrong),
        "not_judged": unknown,
    }
    expected: dict[str, Figure] = {"parted": 0}
    said = f"{equal} of {counted(len(found), 'answer')} equal over {tokens:,} tokens"
    if tied:
        said = f"{said}, {tied} parted at a near tie"
    own = ""
    if rounding:
        figures |= {
            "rounding": rounding.size,
            "rounding_moved": rounding.moved,
            "rounding_positions": rounding.positions,
        }
        expected["near_ties"] = f"at most {most_parted(found, rounding)}"
        own = f"{_own(found, rounding)}."
    if wrong:
        first = next(one.parted for one in found if one.gap in wrong)
        sentence = f"{said}, {len(wrong)} parted. The first: {first}.{own}"
        return Finding(name, title, Outcome.FAILS, sentence, figures, expected)
    if rounding and (crowd := excess(found, rounding)):
        number, width = crowd
        sentence = (
            f"{said}: too many for rounding, so the models, or the kinds of hardware, probably "
            f"differ.{_own(found, rounding, width)} at gaps of {width:.2g} and more, where "
            f"{number} part."
        )
        return Finding(name, title, Outcome.FAILS, sentence, figures, expected)
    if unknown:
        why = (
            "the baseline answers one request at a time, which does not show how far its rounding "
            "moves log-probabilities: start it with more slots"
            if gaps and not rounding
            else "the baseline reports no log-probabilities, by which a near tie differs from a "
            "mistake"
        )
        sentence = f"{said}; {unknown} parted where {why}.{own}"
        return Finding(name, title, Outcome.NOT_MEASURED, sentence, figures, expected)
    return Finding(name, title, Outcome.HOLDS, f"{said}.{own}", figures, expected)


def _own(found: Sequence[Compared], rounding: Rounding, width: float = 0.0) -> str:
    """The sentence on how many answers the baseline's own rounding parts at gaps of `width` or
    more, without its full stop."""
    most = most_parted(found, rounding, width)
    moved = (
        f"{rounding.moved:,} of {rounding.positions:,} log-probabilities, by {rounding.size:.2g} "
        "on average"
        if rounding.moved
        else f"none of {rounding.positions:,} log-probabilities, which are {rounding.size:.2g} or "
        "multiples of it apart"
    )
    return f" The baseline's own rounding moved {moved}: it may part up to {most} of the answers"


def excess(found: Sequence[Compared], rounding: Rounding | None) -> tuple[int, float] | None:
    """How many answers part at gaps of which width or more, where rounding parts fewer: of all such
    widths the smallest."""
    numbered = enumerate(gaps_parted(found), 1)
    crowds = [(n, width) for n, width in numbered if n > most_parted(found, rounding, width)]
    return crowds[-1] if crowds else None


def gaps_parted(found: Sequence[Compared]) -> list[float]:
    """The gaps at which answers part, the widest first."""
    return sorted((one.gap for one in found if one.gap is not None), reverse=True)


def most_parted(found: Sequence[Compared], rounding: Rounding | None, width: float = 0.0) -> int:
    """How many answers rounding parts at gaps of `width` or more."""
    gaps = [gap for one in found for gap in one.gaps if gap >= width]
    return rounding.most_parted(gaps, len(found)) if rounding else 0


def compared(baseline: Greedy, speculating: Greedy) -> Compared:
    plain, other = baseline.trace, speculating.trace
    name = baseline.prompt.prompt_id or "the prompt"
    if plain.prompt_token_ids != other.prompt_token_ids:
        return Compared(parted=f"the servers read {name} as different tokens", gap=inf)
    found = compare(plain, other)
    if found is None:  # ids unknown
        return Compared(parted=None if plain.text == other.text else name)
    if found.equal and plain.text != other.text:
        return Compared(parted=f"{name} has another text", gap=inf)
    if found.equal:
        return Compared(baseline.gaps)
    place = found.compared if found.divergence is None else found.divergence
    if place >= len(baseline.gaps):
        return Compared(parted=name)
    gap = baseline.gaps[place]
    where = (
        f"{name} parts at token {place + 1}, where the best token is {gap:.2g} above the second "
        "(log-probability)"
    )
    return Compared(baseline.gaps[: place + 1], where, gap)

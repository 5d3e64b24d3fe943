"""The mean engine step after the first: drafting, verification, and the rest.

The first step reads the prompt and is in no figure here, so that answers of any length can be
compared. What is not measured is None; the rest is what the measured parts leave of the step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specviz.analysis.overlap import Interval, both_at_work, lane_intervals, spans_of, total_ms
from specviz.sample import LaneTimes
from specviz.trace import Fidelity, Lane, Origin, Step, Trace


@dataclass(frozen=True, slots=True)
class StepTotals:
    """Sums over the steps after the first: steps, their output tokens, their time in ms.

    `lanes` is None where the engine does not report how long it drafts and verifies.
    """

    num_steps: int
    num_tokens: int
    spent_ms: float
    lanes: LaneTimes | None


@dataclass(frozen=True, slots=True)
class StepTime:
    """Means over steps after the first; times in ms per step, `tpot_ms` per output token.

    `draft_ms`, `verify_ms` and `other_ms` add up to `step_ms`, or all three are None.
    `overlapped_draft_ms` is drafting while the target verified: `verify_ms` contains it, `draft_ms`
    does not. Steps without a draft count, too.
    """

    num_steps: int
    tokens_per_step: float
    step_ms: float
    tpot_ms: float
    draft_ms: float | None = None
    overlapped_draft_ms: float | None = None
    verify_ms: float | None = None
    other_ms: float | None = None


def step_totals(trace: Trace) -> StepTotals | None:
    """The sums of one request; None where its steps are not known or there is only one."""
    if trace.fidelity is Fidelity.INFERRED:
        return None
    steps = _after_the_first(trace.steps)
    num_steps = sum(bool(step.emitted) for step in steps)
    if not num_steps:
        return None
    return StepTotals(
        num_steps=num_steps,
        num_tokens=sum(len(step.emitted) for step in steps),
        spent_ms=_spent_ms(trace.steps, steps),
        lanes=lane_times(trace.steps),
    )


def lane_times(steps: Sequence[Step]) -> LaneTimes | None:
    """How long drafting and verification took after the first step; None where a step that needed
    them does not say."""
    later = _after_the_first(steps)
    if not later:
        return None
    if spans_of(later):
        return _by_spans(steps, later)
    if any(_is_untimed(step) for step in later):
        return None
    drafting = sum(step.draft_ms or 0.0 for step in later)
    return LaneTimes(drafting, 0.0, sum(step.verify_ms or 0.0 for step in later))


def mean_step(totals: Iterable[StepTotals]) -> StepTime | None:
    """The mean step of several requests: of those that report their parts, if any does."""
    found = [one for one in totals if one.num_steps and one.num_tokens]
    timed = [one for one in found if one.lanes is not None]
    chosen = timed or found
    if not chosen:
        return None
    num_steps = sum(one.num_steps for one in chosen)
    num_tokens = sum(one.num_tokens for one in chosen)
    spent_ms = sum(one.spent_ms for one in chosen)
    whole = StepTime(num_steps, num_tokens / num_steps, spent_ms / num_steps, spent_ms / num_tokens)
    return _with_parts(whole, [one.lanes for one in chosen if one.lanes is not None])


def _with_parts(whole: StepTime, lanes: Sequence[LaneTimes]) -> StepTime:
    """`whole` with its parts; without them where they would be longer than the step: something
    then ran at the same time, and nobody says what."""
    steps = whole.num_steps
    draft_ms = sum(one.draft_ms for one in lanes) / steps
    verify_ms = sum(one.verify_ms for one in lanes) / steps
    other_ms = whole.step_ms - draft_ms - verify_ms
    if not lanes or other_ms < -ROUNDING * whole.step_ms:
        return whole
    return StepTime(
        steps,
        whole.tokens_per_step,
        whole.step_ms,
        whole.tpot_ms,
        draft_ms,
        sum(one.overlapped_draft_ms for one in lanes) / steps,
        verify_ms,
        max(0.0, other_ms),
    )


ROUNDING = 1e-3
"""Share of a step by which its parts may exceed it: times are stored rounded, in 32 bits."""


def _after_the_first(steps: Sequence[Step]) -> Sequence[Step]:
    """The steps after the first one that emitted something."""
    for place, step in enumerate(steps):
        if step.emitted:
            return steps[place + 1 :]
    return ()


def _spent_ms(steps: Sequence[Step], later: Sequence[Step]) -> float:
    """From the first step's end to the last one's: on the engine's clock where a server has one,
    because what it reports of a step is on that clock."""
    walls = [step.wall_ms for step in later]
    if not spans_of(later) and None not in walls:
        return sum(wall for wall in walls if wall is not None)
    begin, end = _first_and_last_ms(steps)
    return end - begin


def _first_and_last_ms(steps: Sequence[Step]) -> Interval:
    emitting = [step.elapsed_ms for step in steps if step.emitted]
    return emitting[0], emitting[-1]


def _is_untimed(step: Step) -> bool:
    has_draft = any(token.origin is not Origin.TARGET for token in step.emitted)
    return step.verify_ms is None or (has_draft and step.draft_ms is None)


def _by_spans(steps: Sequence[Step], later: Sequence[Step]) -> LaneTimes:
    """Where the lanes may overlap, the time that each of them worked counts once."""
    begin, end = _first_and_last_ms(steps)
    spans = spans_of(later)

    def within(intervals: Iterable[Interval]) -> float:
        clipped = [(max(begin, one[0]), min(end, one[1])) for one in intervals]
        return total_ms([one for one in clipped if one[0] < one[1]])

    both = within(both_at_work(spans))
    return LaneTimes(
        draft_ms=within(lane_intervals(spans, Lane.DRAFT)) - both,
        overlapped_draft_ms=both,
        verify_ms=within(lane_intervals(spans, Lane.VERIFY)),
    )

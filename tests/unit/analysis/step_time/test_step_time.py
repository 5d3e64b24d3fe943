"""The parts of a step sum to its time, whoever measured them; what nobody measured is missing."""

from __future__ import annotations

import math
from dataclasses import astuple, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.step_time.step_time import lane_times, mean_step, step_totals
from specviz.trace import EmittedToken, Fidelity, Lane, Origin, Span, Step, Trace

FIRST_MS = 20.0
times = st.floats(0.001, 50).map(lambda value: round(value, 3))
parts = st.tuples(times, times, times, st.integers(0, 4))
"""Drafting, verification, everything else, and accepted tokens of a step."""


def emitted(accepted: int) -> tuple[EmittedToken, ...]:
    origins = [Origin.ACCEPTED] * accepted + [Origin.BONUS]
    return tuple(EmittedToken(place, place, "x", origin) for place, origin in enumerate(origins))


FIRST = Step(0, FIRST_MS, (), (EmittedToken(0, 0, "x", Origin.TARGET),), verify_ms=FIRST_MS)


def trace_of(steps: list[Step], fidelity: Fidelity = Fidelity.TRACED) -> Trace:
    return Trace("r", fidelity, (FIRST, *steps))


def server_steps(found: list[tuple[float, float, float, int]]) -> list[Step]:
    """As the tracing plugin reports them; their tokens arrive together, at the end."""
    return [
        Step(
            place, 1000.0, (), emitted(accepted), draft_ms=draft, verify_ms=verify,
            wall_ms=draft + verify + other,
        )
        for place, (draft, verify, other, accepted) in enumerate(found, start=1)
    ]  # fmt: skip


def embedded_steps(found: list[tuple[float, float, float, int]]) -> list[Step]:
    """As the embedded engine reports them: the rest is between two steps, and in no `wall_ms`."""
    steps, at = [], FIRST_MS
    for place, (draft, verify, other, accepted) in enumerate(found, start=1):
        begin, drafted = at + other, at + other + draft
        at = drafted + verify
        spans = (Span(Lane.DRAFT, begin, drafted), Span(Lane.VERIFY, drafted, at))
        measured = {"draft_ms": draft, "verify_ms": verify, "wall_ms": draft + verify}
        steps.append(Step(place, at, (), emitted(accepted), spans=spans, **measured))
    return steps


@given(st.lists(parts, min_size=1, max_size=8), st.sampled_from([server_steps, embedded_steps]))
def test_the_parts_sum_to_the_step(found, as_steps) -> None:
    step = mean_step(filter(None, [step_totals(trace_of(as_steps(found)))]))
    assert step is not None and step.num_steps == len(found)
    means = [sum(values) / len(found) for values in zip(*found, strict=True)]
    assert (step.draft_ms, step.verify_ms, step.other_ms) == pytest.approx(means[:3], abs=1e-6)
    assert step.draft_ms + step.verify_ms + step.other_ms == pytest.approx(step.step_ms)
    assert step.tokens_per_step == pytest.approx(means[3] + 1)
    assert step.tpot_ms * step.tokens_per_step == pytest.approx(step.step_ms)


spans = st.builds(
    lambda lane, begin, length: Span(lane, float(begin), float(begin + length)),
    st.sampled_from(Lane), st.integers(0, 60), st.integers(0, 20),
)  # fmt: skip


@given(st.lists(spans, min_size=1, max_size=8), st.integers(0, 60))
def test_lanes_that_overlap_count_once_and_sum_to_the_step(some: list[Span], length: int) -> None:
    """Against a count of milliseconds one by one."""
    end = FIRST_MS + length
    step = Step(1, end, (), emitted(1), spans=tuple(some))
    found = step_totals(trace_of([step]))
    assert found is not None and found.lanes is not None

    def busy(lane: Lane) -> set[int]:
        own = (range(int(one.start_ms), int(one.end_ms)) for one in some if one.lane is lane)
        return {ms for ms_of in own for ms in ms_of if FIRST_MS <= ms < end}

    drafting, verifying = busy(Lane.DRAFT), busy(Lane.VERIFY)
    expected = len(drafting - verifying), len(drafting & verifying), len(verifying)
    assert astuple(found.lanes) == expected
    mean = mean_step([found])
    assert mean is not None and mean.other_ms == length - len(drafting | verifying)


@given(st.lists(parts, min_size=2, max_size=8), st.data())
def test_requests_together_are_as_one_with_all_their_steps(found, data) -> None:
    cut = data.draw(st.integers(1, len(found) - 1))
    halves = [step_totals(trace_of(server_steps(half))) for half in (found[:cut], found[cut:])]
    whole = mean_step(filter(None, [step_totals(trace_of(server_steps(found)))]))
    together = mean_step(filter(None, halves))
    assert whole is not None and together is not None
    assert astuple(together) == pytest.approx(astuple(whole))


def test_a_step_that_does_not_say_how_long_it_drafted_leaves_no_parts() -> None:
    timed = server_steps([(3.0, 6.0, 1.0, 1)] * 3)
    for missing in ({"draft_ms": None}, {"verify_ms": None}):
        steps = [*timed[:2], replace(timed[2], **missing)]
        step = mean_step(filter(None, [step_totals(trace_of(steps))]))
        assert step is not None and step.step_ms == 10.0 and step.tpot_ms == 5.0
        assert step.draft_ms is step.verify_ms is step.other_ms is None


def test_a_step_without_a_draft_needs_no_drafting_time() -> None:
    target = (EmittedToken(0, 0, "x", Origin.TARGET),)
    (step,) = server_steps([(3.0, 6.0, 1.0, 0)])
    plain = replace(step, emitted=target, draft_ms=None)
    lanes = lane_times((FIRST, step, plain))
    assert lanes is not None and astuple(lanes) == (3.0, 0.0, 12.0)


def test_parts_longer_than_the_step_are_not_shown_as_its_parts() -> None:
    (step,) = server_steps([(3.0, 6.0, 1.0, 0)])
    found = step_totals(trace_of([replace(step, wall_ms=5.0)]))
    assert found is not None
    mean = mean_step([found])
    assert mean is not None and mean.step_ms == 5.0 and mean.verify_ms is None


@pytest.mark.parametrize("fidelity", Fidelity)
def test_chunks_are_no_steps(fidelity: Fidelity) -> None:
    found = step_totals(trace_of(server_steps([(3.0, 6.0, 1.0, 1)]), fidelity))
    assert (found is None) == (fidelity is Fidelity.INFERRED)


def test_one_step_has_no_time_behind_it() -> None:
    assert step_totals(trace_of([])) is None and lane_times(()) is None and mean_step([]) is None


def test_requests_that_report_parts_are_preferred() -> None:
    timed, untimed = (
        step_totals(trace_of(server_steps([(3.0, wall - 3.0, 0.0, 1)]))) for wall in (9.0, 90.0)
    )
    assert timed is not None and untimed is not None
    mean = mean_step([timed, replace(untimed, lanes=None)])
    assert mean is not None and mean.num_steps == 1 and math.isclose(mean.step_ms, 9.0)

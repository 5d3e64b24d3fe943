"""A sample and the trace it was made from give the same figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.metrics import summarise
from specviz.analysis.sample_metrics import metrics_of
from specviz.engines.embedded.timed import sample_of
from specviz.sample import Sample
from specviz.trace import (
    EmittedToken,
    Fidelity,
    Origin,
    Step,
    TokenDecision,
    Trace,
    Verdict,
)

shares = st.integers(0, 6).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k)))


@st.composite
def chain_traces(draw: st.DrawFn) -> Trace:
    """A prompt's first token, then steps of (drafted, accepted), as the embedded engine ends."""
    steps, position, elapsed_ms = [], 0, 0.0
    for index, (drafted, accepted) in enumerate([(0, 0), *draw(st.lists(shares, max_size=8))]):
        elapsed_ms += draw(st.floats(0.01, 500.0))
        decisions = tuple(
            TokenDecision(depth + 1, depth - 1, depth, "d", verdict(depth, accepted))
            for depth in range(drafted)
        )
        emitted = tuple(
            EmittedToken(position + place, place, f"{place} ", Origin.ACCEPTED)
            for place in range(accepted + 1)
        )
        position += len(emitted)
        steps.append(Step(index, elapsed_ms, decisions, emitted))
    return Trace(
        "id", Fidelity.TRACED, tuple(steps), (1, 2), steps[0].elapsed_ms, elapsed_ms, "length"
    )


def verdict(depth: int, accepted: int) -> Verdict:
    if depth < accepted:
        return Verdict.ACCEPTED
    return Verdict.REJECTED if depth == accepted else Verdict.UNVERIFIED


@given(chain_traces())
def test_of_a_chain_every_figure_is_the_same(trace: Trace) -> None:
    reported, wanted = metrics_of(sample_of(trace)).to_dict(), summarise(trace).to_dict()
    assert reported.keys() == wanted.keys()
    for name, value in wanted.items():
        assert reported[name] == pytest.approx(value), name


@st.composite
def tree_traces(draw: st.DrawFn) -> Trace:
    """Steps of two levels: siblings that were rejected before one was accepted, or all of them."""
    steps = []
    for index in range(draw(st.integers(1, 6))):
        verdicts = draw(st.sampled_from(LEVELS)) + draw(st.sampled_from(LEVELS))
        decisions = tuple(
            TokenDecision(1 + place // 3, place // 3 - 1, place, "d", verdict)
            for place, verdict in enumerate(verdicts)
        )
        emitted = (EmittedToken(index, index, "t ", Origin.UNKNOWN),)
        steps.append(Step(index, 10.0 * (index + 1), decisions, emitted))
    return Trace("id", Fidelity.TRACED, tuple(steps), (1,), 10.0, 10.0 * len(steps), "length")


A, R, U = Verdict.ACCEPTED, Verdict.REJECTED, Verdict.UNVERIFIED
LEVELS = ((A, U, U), (R, A, U), (R, R, A), (R, R, R), (U, U, U))


@given(tree_traces())
def test_of_a_tree_alpha_is_the_same(trace: Trace) -> None:
    reported, wanted = metrics_of(sample_of(trace, is_chain=False)), summarise(trace)
    assert reported.alpha == wanted.alpha
    assert reported.draft_acceptance_rate == wanted.draft_acceptance_rate


@given(chain_traces(), st.floats(0.0, 1000.0))
def test_waiting_before_a_request_makes_its_first_token_later_and_no_token_slower(
    trace: Trace, waited_ms: float
) -> None:
    reported, alone = metrics_of(sample_of(trace, waited_ms)), metrics_of(sample_of(trace))
    assert reported.ttft_ms == pytest.approx(alone.ttft_ms + waited_ms)
    assert reported.e2el_ms == pytest.approx(alone.e2el_ms + waited_ms)
    if alone.tpot_ms is not None:
        assert reported.tpot_ms == pytest.approx(alone.tpot_ms, rel=1e-6, abs=1e-9)
    assert reported.mean_acceptance_length == alone.mean_acceptance_length


def test_figures_by_hand() -> None:
    reported = metrics_of(sample((2, 0, 3), (3, 3, 3)))
    assert (reported.num_drafts, reported.num_draft_tokens, reported.num_accepted_tokens) == (
        3,
        9,
        5,
    )
    assert reported.draft_acceptance_rate == pytest.approx(5 / 9)
    assert reported.mean_acceptance_length == pytest.approx(1 + 5 / 3)
    assert reported.alpha == pytest.approx(5 / 7)  # two rejections were judged, three tokens never
    assert reported.acceptance_rate_per_pos == pytest.approx((2 / 3, 2 / 3, 1 / 3))
    assert reported.tpot_ms == pytest.approx((100 - 10) / (9 - 1))
    assert reported.tokens_per_step == pytest.approx(9 / 4)
    assert reported.output_throughput == pytest.approx(90)


def test_of_trees_only_what_can_be_known_is_reported() -> None:
    reported = metrics_of(sample((2, 0), (7, 7), is_chain=False))
    assert reported.alpha is None
    assert metrics_of(sample((2, 0), (7, 7), is_chain=False, judged=8)).alpha == 2 / 8
    assert reported.acceptance_rate_per_pos == (0.5, 0.5)


def test_what_the_server_does_not_tell_is_none_and_what_was_not_drafted_is_zero() -> None:
    silent, plain = metrics_of(sample(None, None)), metrics_of(sample((), ()))
    assert (silent.num_drafts, plain.num_drafts) == (None, 0)
    assert (silent.num_accepted_tokens, plain.num_accepted_tokens) == (None, 0)
    for reported in (silent, plain):
        assert (
            reported.draft_acceptance_rate
            is reported.mean_acceptance_length
            is reported.alpha
            is None
        )
        assert reported.acceptance_rate_per_pos == ()


def test_text_without_a_count_has_no_speed_and_an_empty_answer_divides_by_nothing() -> None:
    text = metrics_of(Sample("id", Fidelity.INFERRED, "hi", "stop", 5.0, 9.0, (5.0, 9.0)))
    assert text.output_tokens is text.tpot_ms is text.output_throughput is None
    assert (text.num_steps, text.ttft_ms, text.e2el_ms) == (2, 5.0, 9.0)
    empty = metrics_of(Sample("id", Fidelity.COUNTED, "", "stop", 0.0, 0.0, (), output_tokens=0))
    assert empty.output_throughput is empty.tokens_per_step is None


def sample(accepted, drafted, *, is_chain: bool = True, judged: int | None = None) -> Sample:
    """Nine tokens in four chunks, the first of one token after 10 ms, the last after 100 ms."""
    return Sample(
        "id",
        Fidelity.COUNTED,
        "text",
        "stop",
        ttft_ms=10.0,
        e2el_ms=100.0,
        chunk_ms=(10.0, 40.0, 70.0, 100.0),
        chunk_tokens=(1, 3, 1, 4),
        output_tokens=9,
        per_step_accepted=accepted,
        per_step_drafted=drafted,
        is_chain=is_chain,
        num_judged_tokens=judged,
    )

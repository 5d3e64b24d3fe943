"""Metrics against definitions written out by hand, and properties that must hold for any trace."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.metrics import summarise
from specviz.servers.client.tape import origins_of_step, verdict_at
from specviz.trace import ROOT, EmittedToken, Fidelity, Step, TokenDecision, Trace

Shape = tuple[int, int]  # drafted, accepted


def trace_of(shapes: list[Shape], step_ms: float = 10.0) -> Trace:
    """A chain per shape, one step every `step_ms`, after the prompt's own step."""
    steps = []
    position = 0
    for index, (drafted, accepted) in enumerate([(0, 0), *shapes]):
        decisions = tuple(
            TokenDecision(
                depth + 1, depth - 1 if depth else ROOT, depth, "x", verdict_at(depth, accepted)
            )
            for depth in range(drafted)
        )
        origins = origins_of_step(drafted, accepted)
        emitted = tuple(
            EmittedToken(position + offset, offset, "x", origin)
            for offset, origin in enumerate(origins)
        )
        position += len(emitted)
        steps.append(Step(index, (index + 1) * step_ms, decisions, emitted))
    end_ms = steps[-1].elapsed_ms
    return Trace("r", Fidelity.TRACED, tuple(steps), (1,), step_ms, end_ms, "stop")


shapes = st.lists(
    st.integers(0, 6).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k))), max_size=20
)


def test_the_figures_of_a_small_trace() -> None:
    metrics = summarise(trace_of([(5, 5), (5, 2), (0, 0), (5, 0)]))
    assert (metrics.num_drafts, metrics.num_draft_tokens, metrics.num_accepted_tokens) == (3, 15, 7)
    assert metrics.draft_acceptance_rate == pytest.approx(7 / 15)
    assert metrics.mean_acceptance_length == pytest.approx(1 + 7 / 3)
    assert metrics.alpha == pytest.approx(7 / (5 + 3 + 1))
    assert metrics.acceptance_rate_per_pos == pytest.approx((2 / 3, 2 / 3, 1 / 3, 1 / 3, 1 / 3))
    assert metrics.output_tokens == 1 + 6 + 3 + 1 + 1
    assert metrics.tokens_per_step == pytest.approx(12 / 5)
    assert metrics.tpot_ms == pytest.approx(40 / 11)
    assert metrics.output_throughput == pytest.approx(12 / 0.050)


def test_tpot_leaves_out_every_token_of_the_first_chunk() -> None:
    trace = trace_of([(5, 5)])
    merged = tuple(replace(step, elapsed_ms=10.0) for step in trace.steps)
    assert summarise(replace(trace, steps=merged)).tpot_ms is None


def test_a_server_that_does_not_tell_gives_no_acceptance() -> None:
    metrics = summarise(replace(trace_of([(3, 1)]), fidelity=Fidelity.INFERRED))
    assert metrics.draft_acceptance_rate is None
    assert metrics.num_draft_tokens is None
    assert metrics.acceptance_rate_per_pos == ()


def test_text_without_ids_is_not_counted_as_tokens() -> None:
    trace = trace_of([(3, 1)])
    nameless = tuple(
        replace(step, emitted=tuple(replace(token, token_id=None) for token in step.emitted))
        for step in trace.steps
    )
    metrics = summarise(replace(trace, steps=nameless))
    assert metrics.output_tokens is None
    assert metrics.output_throughput is None


@given(shapes)
def test_mean_acceptance_length_is_one_plus_the_sum_of_the_rates_per_position(
    steps: list[Shape],
) -> None:
    metrics = summarise(trace_of(steps))
    if metrics.num_drafts:
        expected = 1 + sum(metrics.acceptance_rate_per_pos)
        assert metrics.mean_acceptance_length == pytest.approx(expected)


@given(shapes)
def test_acceptance_never_rises_along_a_chain_of_one_length(steps: list[Shape]) -> None:
    same = [(6, min(accepted, 6)) for _, accepted in steps]
    rates = summarise(trace_of(same)).acceptance_rate_per_pos
    assert list(rates) == sorted(rates, reverse=True)


@given(shapes)
def test_rates_are_rates(steps: list[Shape]) -> None:
    metrics = summarise(trace_of(steps))
    for rate in (metrics.draft_acceptance_rate, metrics.alpha, *metrics.acceptance_rate_per_pos):
        assert rate is None or 0 <= rate <= 1
    if metrics.alpha is not None and metrics.draft_acceptance_rate is not None:
        assert metrics.alpha >= metrics.draft_acceptance_rate

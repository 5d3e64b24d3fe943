"""What a server counts for a whole request: shown as acceptance, and never laid into steps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.metrics import summarise
from specviz.analysis.sample_metrics import metrics_of
from specviz.engines.replay import events_of
from specviz.servers.kinds import OPENAI
from specviz.servers.timing.answer import read_answer, sample_of
from specviz.servers.vllm.dialect import VLLM
from specviz.trace import Fidelity, RequestFinished, RequestStarted, SpecTotals, fold
from specviz.wire import event_from_dict, event_to_dict
from tests.support.servers.hostile_server import HostileServer, answering, ask, stream, tokens
from tests.support.servers.scripted_server import chunk, counts, usage


def predicted(details: Any) -> str:
    """The last chunk with OpenAI's `completion_tokens_details`."""
    last = json.loads(usage(3))
    last["usage"]["completion_tokens_details"] = details
    return json.dumps(last)


def openai(*lines: str) -> HostileServer:
    """A server of no known kind that answers so."""
    return HostileServer({"/v1/chat/completions": stream(*lines, "[DONE]")})


def details(accepted: object, rejected: object) -> dict[str, object]:
    return {"accepted_prediction_tokens": accepted, "rejected_prediction_tokens": rejected}


async def test_openais_usage_has_drafted_and_accepted_tokens() -> None:
    lines = [chunk("a"), chunk("bc", finish="stop"), predicted(details(6, 4))]
    trace = (await ask(openai(*lines))).trace
    assert trace.fidelity is Fidelity.INFERRED
    assert not any(step.drafted for step in trace.steps)
    assert trace.totals == SpecTotals(num_draft_tokens=10, num_accepted_tokens=6)
    assert summarise(trace).draft_acceptance_rate == 0.6
    sample = sample_of(read_answer([(1.0, stream(*lines))], 0.0, OPENAI), "id", speculates=None)
    metrics = metrics_of(sample)
    assert (metrics.num_draft_tokens, metrics.num_accepted_tokens) == (10, 6)
    assert metrics.num_drafts is None and metrics.mean_acceptance_length is None


@pytest.mark.parametrize(
    "said",
    [
        *(None, {}, {"reasoning_tokens": 3}, details(0, 0), details(None, None), details(6, None)),
        *([], "6", details(-1, 4), details("6", "4"), details(6, 10**12), details(True, 4)),
    ],
)
async def test_what_says_nothing_or_cannot_be_is_no_total(said: Any) -> None:
    lines = [chunk("abc", finish="stop"), predicted(said)]
    answered = await ask(openai(*lines))
    assert answered.trace.totals is None and answered.trace.text == "abc"
    assert summarise(answered.trace).draft_acceptance_rate is None


async def test_steps_that_are_counted_say_it_all() -> None:
    last = json.loads(usage(3, counts([1], [2], 2)))
    last["usage"]["completion_tokens_details"] = details(6, 4)
    trace = (
        await ask(answering(tokens(10), tokens(11, 13, finish="stop"), json.dumps(last)))
    ).trace
    assert trace.fidelity is Fidelity.COUNTED and trace.totals is None
    assert summarise(trace).num_draft_tokens == 2


SUMMARY: dict[str, Any] = {
    "mean_acceptance_length": 2.5,
    "draft_acceptance_rate": 0.75,
    "acceptance_histogram": [0, 1, 1],
    "num_spec_steps": 2,
    "num_accepted_draft_tokens": 3,
    "num_draft_tokens": 4,
    "num_spec_tokens": 2,
}
"""vLLM 0.32 with `--per-request-spec-decode-metrics summary` (`v1/metrics/stats.py`)."""


async def test_vllms_summary_has_totals_without_steps() -> None:
    lines = [tokens(10), tokens(11, 12, 13, 14, 15, finish="stop"), usage(6, SUMMARY)]
    trace = (await ask(answering(*lines))).trace
    assert trace.fidelity is Fidelity.INFERRED
    assert trace.totals == SpecTotals(4, 3, 2)
    metrics = summarise(trace)
    assert metrics.draft_acceptance_rate == SUMMARY["draft_acceptance_rate"]
    assert metrics.mean_acceptance_length == SUMMARY["mean_acceptance_length"]
    data = stream(*lines)
    sample = sample_of(read_answer([(1.0, data)], 0.0, VLLM), "id", speculates=True)
    assert metrics_of(sample).mean_acceptance_length == SUMMARY["mean_acceptance_length"]


@pytest.mark.parametrize(
    "changed",
    [{"num_draft_tokens": 2}, {"num_draft_tokens": None}, {"num_spec_steps": -1}],
)
async def test_a_summary_that_cannot_be_is_not_believed(changed: dict[str, Any]) -> None:
    lines = [tokens(10), tokens(11, 12, finish="stop"), usage(3, {**SUMMARY, **changed})]
    answered = await ask(answering(*lines))
    assert answered.trace.totals is None and answered.trace.token_ids == (10, 11, 12)
    assert "cannot be true" in answered.reason


numbers = st.none() | st.integers(0, 2**31 - 1)
totals = st.builds(SpecTotals, numbers, numbers, numbers, st.none() | st.floats(0.1, 9.0))


@given(totals=totals)
def test_totals_survive_files_and_replay(totals: SpecTotals) -> None:
    events = [
        RequestStarted("id", Fidelity.INFERRED),
        RequestFinished((1,), 1.0, 2.0, "stop", totals=totals),
    ]
    written = [json.loads(json.dumps(event_to_dict(event))) for event in events]
    trace = fold(map(event_from_dict, written))
    assert trace.totals == totals
    assert fold(events_of(trace)) == trace

"""LM Studio, after its documentation (API changelog, 0.3.10). Not run against a real one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specviz.analysis.metrics import summarise
from specviz.trace import Fidelity, SpecTotals
from tests.support.servers.hostile_server import ask
from tests.support.servers.kind_pages import answering, lm_studio
from tests.support.servers.scripted_server import chunk, usage

STATS: dict[str, Any] = {
    "tokens_per_second": 51.4,
    "draft_model": "deepseek-r1-distill-qwen-0.5b",
    "total_draft_tokens_count": 20,
    "accepted_draft_tokens_count": 12,
    "rejected_draft_tokens_count": 5,
    "ignored_draft_tokens_count": 3,
}


def answer(stats: Any) -> list[str]:
    last = {**json.loads(usage(3)), "stats": stats}
    return [chunk("ab"), chunk("c", finish="stop"), json.dumps(last), "[DONE]"]


async def test_drafts_of_a_request_are_counted() -> None:
    trace = (await ask(answering(lm_studio(), answer(STATS)))).trace
    assert (trace.text, trace.fidelity) == ("abc", Fidelity.INFERRED)
    assert trace.totals == SpecTotals(num_draft_tokens=20, num_accepted_tokens=12)
    metrics = summarise(trace)
    assert metrics.draft_acceptance_rate == 0.6
    assert metrics.mean_acceptance_length is None and metrics.num_drafts is None


@pytest.mark.parametrize("stats", [None, {}, {"tokens_per_second": 51.4}])
async def test_without_a_draft_model_there_are_none(stats: Any) -> None:
    assert (await ask(answering(lm_studio(), answer(stats)))).trace.totals is None


@pytest.mark.parametrize(
    "stats",
    [
        [1],
        {**STATS, "accepted_draft_tokens_count": 21},
        {**STATS, "accepted_draft_tokens_count": -1},
        {**STATS, "total_draft_tokens_count": 10**12},
        {**STATS, "total_draft_tokens_count": None},
    ],
)
async def test_counts_that_cannot_be_are_not_believed(stats: Any) -> None:
    answered = await ask(answering(lm_studio(), answer(stats)))
    assert answered.trace.totals is None and answered.trace.text == "abc"
    assert "totals cannot be true" in answered.reason

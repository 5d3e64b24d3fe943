"""trtllm-serve, after its source; `kind_pages.py` names the files. Not run against a real one."""

from __future__ import annotations

from typing import Any

import pytest

from specviz.analysis.metrics import summarise
from specviz.analysis.sample_metrics import metrics_of
from specviz.errors import MalformedReply
from specviz.methods import Method
from specviz.servers.client.probe import FoundServer
from specviz.servers.metrics import SpecCounters
from specviz.servers.tensorrt_llm.dialect import TENSORRT_LLM
from specviz.servers.timing.answer import read_answer, sample_of
from specviz.servers.timing.timed_server import TimedServer
from specviz.trace import Fidelity, SpecTotals
from tests.support.servers.hostile_server import HostileServer, ask, stream
from tests.support.servers.kind_pages import (
    TENSORRT_LLM_METRICS,
    answering,
    tensorrt_llm,
    tensorrt_llm_chunk,
)
from tests.support.servers.scripted_server import usage

LINES = [
    tensorrt_llm_chunk("a", 1.0),
    tensorrt_llm_chunk("bcd", 2.0),
    tensorrt_llm_chunk("ef", 2.5, "stop"),
    usage(6),
    "[DONE]",
]


async def found(**pages: Any) -> FoundServer:
    server, http = await HostileServer(tensorrt_llm(**pages)).found()
    await http.aclose()
    return server


async def test_what_a_server_says_of_itself() -> None:
    server = await found()
    assert server.software == "TensorRT-LLM 1.2.1"
    said = server.capabilities
    assert (said.speculates, said.method, said.k) == (True, Method.EAGLE3, 4)
    assert said.draft == "eagle" and said.verifier is None  # on none of its pages


async def test_without_its_metrics_it_does_not_say_whether_it_drafts() -> None:
    said = (await found(**{"/prometheus/metrics": ""})).capabilities
    assert (said.speculates, said.method, said.k) == (None, None, None)


async def test_a_request_has_tokens_per_step_and_nothing_about_drafts() -> None:
    trace = (await ask(answering(tensorrt_llm(), LINES))).trace
    assert trace.fidelity is Fidelity.INFERRED and trace.text == "abcdef"
    assert trace.totals == SpecTotals(tokens_per_step=2.5)
    metrics = summarise(trace)
    assert (metrics.tokens_per_step, metrics.draft_acceptance_rate) == (2.5, None)
    sample = sample_of(
        read_answer([(1.0, stream(*LINES))], 0.0, TENSORRT_LLM), "id", speculates=None
    )
    assert metrics_of(sample).tokens_per_step == 2.5


@pytest.mark.parametrize("per_iter", [-1.0, 1e9, "2", True, float("nan"), [2.0]])
async def test_tokens_per_step_that_cannot_be_are_not_believed(per_iter: Any) -> None:
    lines = [tensorrt_llm_chunk("a", per_iter, "stop"), "[DONE]"]
    answered = await ask(answering(tensorrt_llm(), lines))
    assert answered.trace.text == "a" and answered.trace.totals is None
    assert "totals cannot be true" in answered.reason


async def test_its_counters_are_on_another_page() -> None:
    server, http = await HostileServer(tensorrt_llm()).found()
    timed = TimedServer(server, http)
    assert await timed.counters() == SpecCounters(30, 60, 30, (20, 10))
    await timed.close()


def test_load() -> None:
    load = TENSORRT_LLM.load(TENSORRT_LLM_METRICS)
    assert (load.running, load.waiting, load.kv_cache_usage) == (3, 0, 0.5)
    assert load.mean_output_tokens == 20


def test_release_1_2_counts_no_drafts() -> None:
    older = "trtllm_spec_decode_num_draft_tokens_total 10.0\n"
    assert TENSORRT_LLM.counters(older) is None


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ('token_position="0"} 20.0', 'token_position="0"} 31.0'),
        ('token_position="1"} 10.0', 'token_position="7"} 10.0'),
        ('token_position="0"} 30.0', 'token_position="0"} -1'),
        ('token_position="0"} 30.0', 'token_position="first"} 30'),
        ('token_position="0"} 30.0', 'token_position="0"} 30.5'),
    ],
)
def test_counters_that_cannot_be_are_not_believed(was: str, now: str) -> None:
    page = TENSORRT_LLM_METRICS.replace(was, now)
    assert page != TENSORRT_LLM_METRICS
    with pytest.raises(MalformedReply):
        TENSORRT_LLM.counters(page)


@pytest.mark.parametrize("tokens", ["0", "4.5", "-1", "99999", "four"])
async def test_a_k_that_is_none_is_not_believed(tokens: str) -> None:
    page = TENSORRT_LLM_METRICS.replace('spec_num_tokens="4"', f'spec_num_tokens="{tokens}"')
    assert (await found(**{"/prometheus/metrics": page})).capabilities.k is None

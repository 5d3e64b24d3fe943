"""SGLang 0.5.23, after its source; `kind_pages.py` names the files. Not run against a real one."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.metrics import summarise
from specviz.analysis.sample_metrics import metrics_of
from specviz.errors import MalformedReply
from specviz.methods import Method
from specviz.servers.capabilities import Capabilities
from specviz.servers.sglang.chunk_extras import proven_counts
from specviz.servers.sglang.dialect import SGLANG
from specviz.servers.timing.answer import read_answer, sample_of
from specviz.trace import Fidelity, Origin
from tests.support.servers.hostile_server import HostileServer, Says, ask, stream
from tests.support.servers.kind_pages import (
    SGLANG_METRICS,
    answering,
    sglang,
    sglang_details,
    sglang_stream,
)

SIZES = (1, 4, 1, 3, 2)
"""Of the chunks: the prompt's step, then steps that accepted 3, 0, 2 and 1 of 3 tokens."""
HISTOGRAM = (1, 1, 1, 1)
PIECES = {"/detokenize": '{"text": ""}'}


async def capabilities(**info: Any) -> Capabilities:
    found, http = await HostileServer(sglang(info)).found()
    await http.aclose()
    assert found.dialect is SGLANG
    return found.capabilities


# recognising


async def test_what_a_server_says_of_itself() -> None:
    found, http = await HostileServer(sglang()).found()
    await http.aclose()
    assert found.software == "SGLang 0.5.23" and found.max_model_len == 4096
    said = found.capabilities
    assert (said.speculates, said.method, said.k) == (True, Method.EAGLE3, 3)
    assert said.draft == "lmsys/sglang-EAGLE3-LLaMA3.1-Instruct-8B"
    assert said.prefix_caching is True and not said.tracing


async def test_a_server_that_drafts_nothing() -> None:
    said = await capabilities(speculative_algorithm=None)
    assert said.settled(None, None) == (Method.BASELINE, None) and said.verifier is None


@pytest.mark.parametrize(
    ("info", "trees", "adapts"),
    [
        ({}, False, False),
        ({"speculative_eagle_topk": 8, "speculative_num_draft_tokens": 64}, True, False),
        ({"speculative_algorithm": "NGRAM"}, True, False),
        ({"speculative_algorithm": "EAGLE_HARNESS"}, True, False),
        ({"speculative_adaptive": True}, False, True),
    ],
)
async def test_what_is_no_chain_of_one_length(
    info: dict[str, Any], trees: bool, adapts: bool
) -> None:
    said = await capabilities(**info)
    assert (said.drafts_trees, said.adapts_k) == (trees, adapts)
    assert said.k in (3, None)


@pytest.mark.parametrize(
    "info",
    [
        {"version": 3},
        {"speculative_algorithm": ["EAGLE"]},
        {"speculative_num_draft_tokens": -1},
        {"speculative_num_draft_tokens": "4"},
        {"speculative_eagle_topk": 1e99},
        {"speculative_accept_threshold_acc": "low"},
        {"speculative_draft_model_path": {}},
    ],
)
async def test_a_report_that_cannot_be_true_is_not_believed(info: dict[str, Any]) -> None:
    said = await capabilities(**info)
    assert (said.speculates, said.k, said.verifier) == (None, None, None)
    assert said.drafts_trees and said.adapts_k  # so that nothing is counted
    assert "cannot be true" in (said.tracing_reason or "")


# the verifier


@pytest.mark.parametrize(
    ("info", "name", "lossless"),
    [
        ({}, "target-only sampling", True),
        ({"speculative_use_rejection_sampling": True}, "rejection sampling", True),
        (
            {
                "speculative_use_rejection_sampling": True,
                "speculative_use_block_verification": True,
            },
            "block verification",
            True,
        ),
        ({"speculative_accept_threshold_single": 0.9}, "target-only sampling", False),
        ({"speculative_accept_threshold_acc": 0.5}, "target-only sampling", False),
        ({"speculative_algorithm": "DFLASH"}, "target-only sampling", None),
    ],
)
async def test_the_verifier_follows_from_the_arguments(
    info: dict[str, Any], name: str, lossless: bool | None
) -> None:
    verifier = (await capabilities(**info)).verifier
    assert verifier is not None
    assert (verifier.name, verifier.is_lossless) == (name, lossless)


# answers


async def test_steps_are_the_chunks_that_the_histogram_proves() -> None:
    server = answering(sglang(**PIECES), sglang_stream(SIZES, sglang_details(HISTOGRAM)))
    answered = await ask(server)
    trace = answered.trace
    assert trace.fidelity is Fidelity.COUNTED
    assert trace.token_ids == tuple(range(100, 111))
    assert [len(step.drafted) for step in trace.steps] == [0, 3, 3, 3, 3]
    assert [step.num_accepted for step in trace.steps] == [0, 3, 0, 2, 1]
    assert trace.steps[1].emitted[-1].origin is Origin.BONUS
    assert trace.text == "".join(f"t{one} " for one in range(100, 111))
    assert trace.totals is None  # the steps say it all
    metrics = summarise(trace)
    assert (metrics.num_accepted_tokens, metrics.num_draft_tokens) == (6, 12)


async def test_a_sample_has_the_same_steps() -> None:
    data = stream(*sglang_stream(SIZES, sglang_details(HISTOGRAM)))
    answer = read_answer([(1.0, data)], 0.0, SGLANG, await capabilities())
    sample = sample_of(answer, "id", speculates=True)
    assert sample.chunk_tokens == SIZES
    assert sample.token_ids == tuple(range(100, 111))
    assert (sample.per_step_accepted, sample.per_step_drafted) == ((3, 0, 2, 1), (3, 3, 3, 3))


async def test_it_is_asked_for_counts_and_for_tokens_so_far() -> None:
    bodies = list[dict[str, Any]]()

    class Listening(HostileServer):
        async def handle_async_request(self, request: Any) -> Any:
            if request.url.path == "/v1/chat/completions":
                bodies.append(json.loads(await request.aread()))
            return await super().handle_async_request(request)

    lines = sglang_stream(SIZES, sglang_details(HISTOGRAM))
    await ask(Listening({**sglang(**PIECES), "/v1/chat/completions": stream(*lines)}))
    assert bodies[0]["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}
    assert bodies[0]["return_spec_tokens_details"] is True
    assert "return_token_ids" not in bodies[0]  # refused in streams


async def test_the_end_of_the_text_has_an_id_and_no_text() -> None:
    lines = sglang_stream((1, 4, 1), sglang_details((1, 0, 0, 1)), cut=1)
    trace = (await ask(answering(sglang(**PIECES), lines))).trace
    assert trace.fidelity is Fidelity.COUNTED
    assert trace.token_ids == tuple(range(100, 106))
    assert trace.emitted[-1].text == ""


@pytest.mark.parametrize(
    "sizes", [(1, 5, 3, 2), (2, 3, 1, 3, 2), (1, 4, 1, 3, 1, 1), (1, 3, 3, 2, 2), (1, 5, 1, 3, 1)]
)
async def test_merged_chunks_are_no_steps_but_totals_remain(sizes: tuple[int, ...]) -> None:
    server = answering(sglang(**PIECES), sglang_stream(sizes, sglang_details(HISTOGRAM)))
    trace = (await ask(server)).trace
    assert trace.fidelity is Fidelity.INFERRED
    assert not any(step.drafted for step in trace.steps)
    metrics = summarise(trace)
    assert (metrics.num_accepted_tokens, metrics.num_draft_tokens) == (6, 12)
    assert (metrics.draft_acceptance_rate, metrics.mean_acceptance_length) == (0.5, 2.5)
    assert metrics.acceptance_rate_per_pos == () and metrics.alpha is None


async def test_trees_have_totals_and_no_steps() -> None:
    trees = sglang({"speculative_eagle_topk": 4}, **PIECES)
    trace = (await ask(answering(trees, sglang_stream(SIZES, sglang_details(HISTOGRAM))))).trace
    assert trace.fidelity is Fidelity.INFERRED
    assert summarise(trace).draft_acceptance_rate == 0.5


async def test_of_an_adapted_k_only_the_acceptance_length_is_known() -> None:
    adaptive = sglang({"speculative_adaptive": True}, **PIECES)
    lines = sglang_stream(SIZES, sglang_details(HISTOGRAM))
    metrics = summarise((await ask(answering(adaptive, lines))).trace)
    assert metrics.num_draft_tokens is None and metrics.draft_acceptance_rate is None
    assert (metrics.num_accepted_tokens, metrics.mean_acceptance_length) == (6, 2.5)


async def test_an_older_server_without_ids_streams_text_only() -> None:
    lines = sglang_stream(SIZES, sglang_details(HISTOGRAM), ids=[])
    trace = (await ask(answering(sglang(), lines))).trace
    assert trace.fidelity is Fidelity.INFERRED and trace.token_ids == ()
    assert summarise(trace).num_accepted_tokens == 6


@pytest.mark.parametrize("ids", [[1], list(range(12)), [-1] * 11, ["a"] * 11, {"0": 1}])
async def test_ids_that_are_not_of_this_answer_cost_only_the_ids(ids: Any) -> None:
    lines = sglang_stream(SIZES, None)
    lines[-3] = json.dumps({"choices": [], "sglext": {"output_ids": [ids]}})
    trace = (await ask(answering(sglang(**PIECES), lines))).trace
    assert trace.text == "".join(f"t{one} " for one in range(100, 111))
    assert trace.token_ids == ()


@pytest.mark.parametrize(
    "changed",
    [
        {"spec_verify_ct": -1},
        {"spec_verify_ct": "4"},
        {"spec_num_proposed_drafts": 3, "spec_num_correct_drafts": 6},
        {"spec_correct_drafts_histogram": [10**12]},
        {"spec_correct_drafts_histogram": "1111"},
        {"spec_correct_drafts_histogram": [0] * 10_000},
        {"spec_num_correct_drafts": None},
    ],
)
async def test_details_that_cannot_be_true_give_no_acceptance(changed: dict[str, Any]) -> None:
    details = {**sglang_details(HISTOGRAM), **changed}
    trace = (await ask(answering(sglang(**PIECES), sglang_stream(SIZES, details)))).trace
    counted = trace.fidelity is Fidelity.COUNTED
    metrics = summarise(trace)
    assert trace.text.startswith("t100 ")
    # what is left is either proven step by step or a total that fits
    assert counted or metrics.num_draft_tokens is None or metrics.draft_acceptance_rate == 0.5


@given(
    accepted=st.lists(st.integers(0, 5), min_size=1, max_size=12),
    cut=st.integers(0, 5),
)
def test_whatever_is_accepted_is_read_back(accepted: list[int], cut: int) -> None:
    """The last step may be cut by a stop; every other one is the size of its chunk."""
    cut = min(cut, accepted[-1])
    histogram = [accepted.count(n) for n in range(6)]
    sizes = [1, *(n + 1 for n in accepted)]
    sizes[-1] -= cut
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    counts = proven_counts([*ends, sglang_details(histogram, k=5), ends[-1]])
    assert counts is not None
    assert counts.per_step_accepted == tuple(accepted)
    assert counts.per_step_drafted == (5,) * len(accepted)
    assert counts.fit(ends[-1])


@pytest.mark.parametrize("sizes", [(1, 3, 3, 2, 2), (1, 4, 1, 3, 5), (1, 4, 4, 1, 1)])
def test_as_many_chunks_as_steps_are_not_steps_by_that(sizes: tuple[int, ...]) -> None:
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    assert proven_counts([*ends, sglang_details(HISTOGRAM)]) is None


@given(sizes=st.lists(st.integers(1, 6), min_size=3, max_size=10), data=st.data())
def test_two_steps_in_one_chunk_are_never_taken_for_one(
    sizes: list[int], data: st.DataObject
) -> None:
    """Of the right number of steps none is left over, so that merging shows."""
    sizes = [1, *sizes]
    histogram = [sum(size - 1 == n for size in sizes[1:]) for n in range(6)]
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    lost = data.draw(st.integers(0, len(ends) - 2))
    kept = [end for place, end in enumerate(ends) if place != lost]
    assert all(now > before for before, now in pairwise(kept))
    assert proven_counts([*kept, sglang_details(histogram, k=5)]) is None


# load


def test_load_and_no_counters() -> None:
    load = SGLANG.load(SGLANG_METRICS)
    assert (load.running, load.waiting, load.kv_cache_usage, load.preemptions) == (2, 1, 0.25, 0)
    assert load.mean_output_tokens == 25
    assert SGLANG.counters(SGLANG_METRICS) is None
    with pytest.raises(MalformedReply):
        SGLANG.load(SGLANG_METRICS.replace("} 0.25", "} 3"))


def test_a_sample_without_counts_has_totals() -> None:
    lines = stream(*sglang_stream((1, 5, 3, 2), sglang_details(HISTOGRAM)))
    sample = sample_of(read_answer([(1.0, lines)], 0.0, SGLANG), "id", speculates=True)
    metrics = metrics_of(sample)
    assert (metrics.num_drafts, metrics.num_draft_tokens, metrics.num_accepted_tokens) == (4, 12, 6)
    assert metrics.acceptance_rate_per_pos == () and metrics.alpha is None


async def test_repeated_prompts_are_kept_out_of_its_cache() -> None:
    from specviz.servers.timing.timed_server import TimedServer

    pages: dict[str, Says] = sglang()
    found, http = await HostileServer(pages).found()
    server = TimedServer(found, http)
    assert await server.prefix_caching() is True
    await server.close()

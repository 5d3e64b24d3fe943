"""The benchmark's client against a stand-in that says exactly what the test wants."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.config import Message, Prompt, Sampling
from specviz.errors import (
    EngineError,
    NotAnOpenAIServer,
    RequestRefused,
    ServerUnreachable,
    StreamBroken,
)
from specviz.methods import Method
from specviz.sample import Sample
from specviz.servers.client.sse import Read, field_of, lines_of
from specviz.servers.timing.answer import read_answer, sample_of
from specviz.servers.timing.timed_server import open_timed_server
from specviz.servers.vllm.dialect import VLLM
from specviz.servers.vllm.metrics import parse_prefix_caching
from specviz.servers.vllm.tracing.keys import key_of
from specviz.trace import Fidelity
from tests.support.servers.scripted_server import CUT, STALL, Script, chunk, counts, serving, usage

PROMPT = Prompt("hello")
SAMPLING = Sampling(max_tokens=9)
ROLE = chunk("", None, prompt_token_ids=[1, 2, 3])
DONE = "[DONE]"
ANSWER = [
    ROLE,
    chunk("t10 ", [10]),
    chunk("t11 ü ", [11, 12, 13]),
    chunk("t14 ", [14], "length"),
    usage(5, counts([2, 0], [2, 2], 2)),
    DONE,
]


async def sample(
    script: Script, prompt: Prompt = PROMPT, sampling: Sampling = SAMPLING, **options: Any
) -> Sample:
    with serving(script) as url:
        server = await open_timed_server(url, **options)
        try:
            return await server.sample(prompt, sampling)
        finally:
            await server.close()


async def test_a_server_with_a_policy_is_asked_for_a_k() -> None:
    script = Script(lines=ANSWER, handshake={"tracing": True, "policy": True})
    await sample(script, Prompt("hello", category="chat"), replace(SAMPLING, spec_k=2))
    assert script.requests[0]["vllm_xargs"] == {"spec_k": 2, "category": "chat"}


async def test_a_sample_has_the_chunks_the_tokens_and_the_counts() -> None:
    timed = await sample(Script(lines=ANSWER, pause_s=0.02))
    assert timed.fidelity is Fidelity.COUNTED
    assert timed.text == "t10 t11 ü t14 "
    assert timed.finish_reason == "length"
    assert timed.token_ids == (10, 11, 12, 13, 14)
    assert timed.chunk_tokens == (1, 3, 1)
    assert (timed.prompt_tokens, timed.output_tokens) == (3, 5)
    assert timed.per_step_accepted == (2, 0)
    assert timed.per_step_drafted == (2, 2)


async def test_times_are_those_of_the_chunks_with_output() -> None:
    for _ in range(20):  # a process may be held up
        timed = await sample(Script(lines=ANSWER, pause_s=0.05))
        assert timed.chunk_ms[0] == timed.ttft_ms
        assert timed.chunk_ms[-1] == timed.e2el_ms
        # none before it was sent: 50 ms each, and the role's chunk came before the first
        assert all(ms >= 100 + 50 * at for at, ms in enumerate(timed.chunk_ms))
        if all(later - earlier >= 40 for earlier, later in pairwise(timed.chunk_ms)):
            return
    pytest.fail("chunks that come one by one were read together, in every one of twenty answers")


async def test_the_request_asks_for_ids_and_usage_but_not_for_a_trace() -> None:
    script = Script(lines=ANSWER)
    prompt = replace(PROMPT, earlier=(Message("user", "a"), Message("assistant", "b")))
    timed = await sample(script, prompt)
    (body,) = script.requests
    assert [message["content"] for message in body["messages"]] == ["a", "b", "hello"]
    assert body["stream_options"] == {"include_usage": True}
    assert body["return_token_ids"] is True
    assert "seed" not in body
    assert key_of(f"chatcmpl-{timed.request_id}-01234567") is None


async def test_without_counts_the_sample_is_inferred() -> None:
    timed = await sample(Script(lines=[*ANSWER[:-2], usage(5), DONE]))
    assert timed.fidelity is Fidelity.INFERRED
    assert timed.per_step_accepted is None
    assert timed.per_step_drafted is None


async def test_a_server_that_does_not_speculate_has_drafted_nothing() -> None:
    script = Script(lines=[*ANSWER[:-2], usage(5), DONE], speculates=False)
    with serving(script) as url:
        server = await open_timed_server(url, method=Method.EAGLE)
        timed = await server.sample(PROMPT, SAMPLING)
        assert server.method is Method.BASELINE
        assert await server.counters() is None
        await server.close()
    assert timed.fidelity is Fidelity.COUNTED
    assert timed.per_step_accepted == timed.per_step_drafted == ()


async def test_text_without_ids_is_timed_and_counted_by_the_server() -> None:
    lines = [chunk(""), chunk("Hello"), chunk(" world", finish="stop"), usage(4), DONE]
    script = Script(lines=lines, version=None)
    timed = await sample(script)
    assert timed.fidelity is Fidelity.INFERRED
    assert (timed.text, timed.output_tokens) == ("Hello world", 4)
    assert len(timed.chunk_ms) == 2
    assert timed.chunk_tokens == timed.token_ids == ()
    assert "return_token_ids" not in script.requests[0]


async def test_an_empty_answer_ends_when_the_server_says_so() -> None:
    timed = await sample(Script(lines=[chunk("", finish="stop"), DONE], version=None))
    assert timed.chunk_ms == ()
    assert timed.ttft_ms == timed.e2el_ms > 0


@pytest.mark.parametrize(
    ("tail", "says"),
    [
        ([CUT], "broke"),
        ([], "cut it off"),
        ([DONE], "cut it off"),
        (["{not json", DONE], "not valid JSON"),
        (["{not json", CUT], "not valid JSON"),
        (['{"choices": [{"delta": {"content": 5}}]}', DONE], "OpenAI's streaming format"),
        (['{"choices": [{"index": 0}]}', DONE], "cut it off"),
        (["[]", DONE], "OpenAI's streaming format"),
        (['{"error": {"message": "the engine is dead"}}', DONE], "the engine is dead"),
        (['{"error": {"message": "the engine is dead"}}', CUT], "the engine is dead"),
        ([STALL], "nothing for 0.5 s"),
    ],
)
async def test_a_broken_stream_is_one_sentence(tail: list[str], says: str) -> None:
    script = Script(lines=[ROLE, chunk("t10 ", [10]), *tail])
    with pytest.raises(StreamBroken, match=says) as raised:
        await sample(script, stall_timeout_s=0.5 if STALL in tail else 60.0)
    assert "\n" not in str(raised.value)


async def test_a_connection_that_breaks_behind_a_complete_answer_does_no_harm() -> None:
    timed = await sample(Script(lines=[*ANSWER, CUT]))
    assert timed.output_tokens == 5


@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [
        (400, RequestRefused, "80 tokens"),
        (401, RequestRefused, "OPENAI_API_KEY"),
        (404, RequestRefused, "80 tokens"),
        (500, StreamBroken, "80 tokens"),
    ],
)
async def test_a_refusal_carries_the_servers_own_reason(
    status: int, kind: type[EngineError], says: str
) -> None:
    with pytest.raises(kind, match=says):
        await sample(Script(status=status, error="the prompt has 80 tokens, the context 64"))


async def test_opening_finds_what_is_wrong() -> None:
    with serving(Script()) as url, pytest.raises(RequestRefused, match="serves demo"):
        await open_timed_server(url, model="other")
    with serving(Script(models={"hello": 1})) as url, pytest.raises(NotAnOpenAIServer):
        await open_timed_server(url)
    with pytest.raises(ServerUnreachable, match="check the address"):
        await open_timed_server("http://127.0.0.1:9")


async def test_a_server_that_has_exited_is_unreachable() -> None:
    with serving(Script()) as url:
        server = await open_timed_server(url)
    with pytest.raises(ServerUnreachable, match="probably exited"):
        await server.sample(PROMPT, SAMPLING)
    with pytest.raises(ServerUnreachable, match="probably exited"):
        await server.counters()
    await server.close()


async def test_cancelling_ends_the_request_at_once() -> None:
    with serving(Script(lines=[ROLE, STALL])) as url:
        server = await open_timed_server(url)
        request = asyncio.create_task(server.sample(PROMPT, SAMPLING))
        await asyncio.sleep(0.2)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        await server.close()


async def test_64_streams_are_under_way_at_once() -> None:
    script = Script(lines=ANSWER, together=64)
    with serving(script) as url:
        server = await open_timed_server(url)
        timed = await asyncio.gather(*(server.sample(PROMPT, SAMPLING) for _ in range(64)))
        assert len({one.request_id for one in timed}) == 64
        await server.close()


STREAM = "".join(f"data: {line}\n\n" for line in ANSWER).encode()


def pieces(cuts: list[int]) -> list[Read]:
    """The stream cut at the given places, one piece per second."""
    bounds = [0, *sorted(cuts), len(STREAM)]
    return [(float(index), STREAM[a:b]) for index, (a, b) in enumerate(pairwise(bounds))]


@given(st.lists(st.integers(0, len(STREAM))))
def test_any_split_into_reads_gives_the_same_sample(cuts: list[int]) -> None:
    whole = sample_of(read_answer(pieces([]), 0.0, VLLM), "id", speculates=True)
    split = sample_of(read_answer(pieces(cuts), 0.0, VLLM), "id", speculates=True)
    assert replace(split, ttft_ms=0, ttfo_ms=0, e2el_ms=0, chunk_ms=whole.chunk_ms) == whole
    assert list(split.chunk_ms) == sorted(split.chunk_ms)
    assert split.chunk_ms[0] == split.ttft_ms
    assert split.chunk_ms[-1] == split.e2el_ms


def test_a_line_arrives_with_its_end() -> None:
    reads = [(1.0, b"data: a\n\nda"), (2.0, b"ta: b"), (3.0, b"\r\n\r\n: ping\n\ndata:c\n\n")]
    values = [(at, field_of(line)[1]) for at, line in lines_of(reads) if line.startswith(b"data")]
    assert values == [(1.0, b"a"), (3.0, b"b"), (3.0, b"c")]


@pytest.mark.parametrize(
    ("page", "caches"),
    [
        ('vllm:cache_config_info{block_size="16",enable_prefix_caching="True"} 1.0\n', True),
        ('vllm:cache_config_info{block_size="16",enable_prefix_caching="False"} 1.0\n', False),
        ('vllm:cache_config_info{block_size="16"} 1.0\n', None),
        ("", None),
    ],
)
def test_prefix_caching_is_read_from_the_metrics(page: str, caches: bool | None) -> None:
    assert parse_prefix_caching(page) is caches

"""What a server should not say: it is not believed, the reason is named, what arrived is kept."""

from __future__ import annotations

import asyncio
import json
import math
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from specviz.config import Prompt, Sampling
from specviz.errors import MalformedReply, NotAnOpenAIServer, StreamBroken
from specviz.methods import Method
from specviz.servers.client import arrivals
from specviz.servers.client.sse import Read
from specviz.servers.timing.answer import last_news_s, read_answer, sample_of
from specviz.servers.timing.timed_server import TimedServer
from specviz.servers.trace_record import read_record
from specviz.servers.vllm.dialect import VLLM
from specviz.servers.vllm.metrics import parse_counters, parse_load, parse_prefix_caching
from specviz.trace import Fidelity
from tests.support.servers.hostile_server import (
    METRICS,
    TRACED,
    HostileServer,
    Says,
    answering,
    ask,
    repeating,
    stream,
    tokens,
    traced,
)
from tests.support.servers.scripted_server import chunk, counts, usage

RECORD: dict[str, Any] = {
    "drafted": [11, 12],
    "draft_probs": [0.5, 0.5],
    "target_probs": [0.25, 0.25],
    "accept_probs": [0.5, 0.5],
    "u": [0.4, 0.6],
    "top": [[[11, 0.25]], [[12, 0.25]]],
    "emitted": [11, 13],
    "num_accepted": 1,
    "draft_ms": 1.0,
    "verify_ms": 2.0,
    "wall_ms": 3.0,
}
FIRST: dict[str, Any] = {
    **{name: [] for name, value in RECORD.items() if isinstance(value, list)},
    "emitted": [10],
    "num_accepted": 0,
}
ANSWER = (tokens(10), tokens(11, 13, finish="stop"), usage(3, counts([1], [2], 2)))
TEXT = "t10 t11 t13 "


# characters in halves


async def test_a_character_in_two_chunks_is_one() -> None:
    halves = [chunk("a\ud83d", [1]), chunk("", [2]), chunk("\ude00b", [3], "stop")]
    answered = await ask(answering(*halves))
    assert answered.trace.text == "a😀b" and answered.trace.token_ids == (1, 2, 3)
    sample = sample_of(read_answer([(1.0, stream(*halves))], 0.0, VLLM), "id", speculates=True)
    assert sample.text == "a😀b" and sample.chunk_tokens == (1, 1, 1)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([chunk("a\ud83d"), chunk("b", finish="stop")], "a\ufffdb"),
        ([chunk("\ude00a", finish="stop")], "\ufffda"),
        ([chunk("a\ud83d", finish="stop")], "a\ufffd"),
        ([chunk("a\ud83d"), "{not json"], "a\ufffd"),
    ],
)
async def test_half_a_character_alone_is_kept_as_one_that_can_be_stored(
    lines: list[str], text: str
) -> None:
    assert (await ask(answering(*lines))).trace.text == text


# pages


@pytest.mark.parametrize(
    "page",
    [
        *("{}", "[1]", "<html><body>It works</body></html>", "a{", METRICS.replace("0.0", "NaN")),
        *(METRICS.replace("0.0", "-1"), METRICS.replace("0.0", "+Inf"), METRICS[:70], "é" * 99),
    ],
)
async def test_a_page_that_is_not_metrics_is_not_believed(page: str) -> None:
    server = HostileServer({"/version": '{"version": "0.32.0"}', "/metrics": page})
    found, http = await server.found()
    assert found.capabilities.speculates is None
    engine = TimedServer(found, http)
    assert await engine.counters() is None and await engine.prefix_caching() is None
    with pytest.raises(MalformedReply):
        parse_counters(page)


@pytest.mark.parametrize("value", ["NaN", "-1", "+Inf", "1e300"])
def test_a_load_that_cannot_be_is_not_believed(value: str) -> None:
    with pytest.raises(MalformedReply, match="num_requests_running"):
        parse_load(f"vllm:num_requests_running {value}\n")
    with pytest.raises(MalformedReply, match="not a metrics page"):
        parse_prefix_caching("<html>")


def test_counters_of_a_restarted_server_differ_by_nothing() -> None:
    counted = parse_counters(METRICS.replace("0.0", "3"))
    restarted = parse_counters(METRICS)
    assert counted is not None and restarted is not None
    assert (restarted - counted).went_back and not (counted - restarted).went_back


@pytest.mark.parametrize(
    "models",
    ["{}", '{"data": [{"id": 5}]}', '{"data": [{"id": ""}]}', '{"data": "x"}', "[" * 10**5],
)
async def test_models_of_odd_types_are_no_server(models: str) -> None:
    with pytest.raises(NotAnOpenAIServer, match="/v1/models") as raised:
        await HostileServer({"/v1/models": models}).found()
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    "handshake",
    [
        *({"method": [1]}, {"num_speculative_tokens": "x"}, {"num_speculative_tokens": 10**9}),
        *({"fixes": 5}, {"fixes": [1]}, {"draft_model": {}}, {"reason": [0]}),
    ],
)
async def test_a_handshake_of_odd_types_means_no_trace(handshake: dict[str, Any]) -> None:
    page = json.dumps({"tracing": True, **handshake})
    found, _ = await HostileServer({**TRACED, "/specviz/handshake": page}).found()
    assert not found.capabilities.tracing
    assert "cannot be true" in (found.capabilities.tracing_reason or "")


async def test_pages_end_at_a_size_and_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = repeating(then=b"# x\n", every_s=0.01)
    with monkeypatch.context() as patch:
        patch.setattr(
            "specviz.servers.pages.read_page.__kwdefaults__", {"body": None, "timeout_s": 0.1}
        )
        found, _ = await HostileServer({**TRACED, "/metrics": slow}).found()
        assert found.capabilities.speculates is None
    endless = repeating(then=b"# x\n" * 10**5)
    found, _ = await HostileServer({**TRACED, "/metrics": endless}).found()
    assert found.capabilities.speculates is None


# token ids and texts


@pytest.mark.parametrize("odd", [-1, 2**31, math.inf, math.nan, 1.5, True, "7", None, [1]])
async def test_odd_token_ids_cost_the_ids_and_not_the_text(odd: Any) -> None:
    lines = [tokens(10), chunk("t11 ", [11, odd]), tokens(12, finish="stop")]
    answered = await ask(answering(*lines))
    assert answered.trace.text == "t10 t11 t12 " and answered.trace.token_ids == (10, 12)
    assert answered.error is None and "token_ids is" in answered.reason
    sample = sample_of(read_answer([(1.0, stream(*lines))], 0.0, VLLM), "id", speculates=True)
    assert sample.text == "t10 t11 t12 "


async def test_a_chunk_with_text_and_no_ids_keeps_its_text() -> None:
    lines = [tokens(10), chunk("held back ", []), tokens(11, finish="stop"), usage(2)]
    assert (await ask(answering(*lines))).trace.text == "t10 held back t11 "
    sample = sample_of(read_answer([(1.0, stream(*lines))], 0.0, VLLM), "id", speculates=True)
    assert sample.text == "t10 held back t11 " and sample.chunk_tokens == (1, 1)


@pytest.mark.parametrize("page", [httpx2.Response(500), '{"prompt": 5}', "no", '{"prompt": "'])
async def test_texts_that_the_server_does_not_give_are_done_without(page: Says) -> None:
    server = answering(tokens(10), tokens(11, 12, finish="stop"), **{"/detokenize": page})
    answered = await ask(server)
    assert (answered.trace.text, answered.error) == ("t10 t11 t12 ", None)
    assert answered.trace.token_ids == (10, 11, 12)


async def test_hundreds_of_ids_are_asked_for_a_few_at_once() -> None:
    ids = list(range(1, 401))
    server = answering(
        chunk("x" * 400, ids, "stop"), **{"/detokenize": json.dumps({"prompt": "x"})}
    )
    answered = await ask(server, max_tokens=400)
    assert answered.trace.text == "x" * 400 and len(answered.trace.emitted) == 400
    assert server.most_at_once <= 20


async def test_slow_texts_are_not_waited_for_beyond_the_stall_limit() -> None:
    slow = repeating(then=b" ", every_s=0.01)
    server = answering(chunk("x", [1]), chunk("y", [2], "stop"), **{"/detokenize": slow})
    answered = await ask(server, stall_timeout_s=2.0)
    assert answered.trace.text == "xy"


# traces


def test_a_record_of_a_step_is_read() -> None:
    assert read_record(RECORD).drafted == (11, 12)
    assert read_record({**FIRST, "top": [], "draft_ms": None}).emitted == (10,)


IMPOSSIBLE = [
    *({"draft_probs": [math.nan, 0.5]}, {"target_probs": [5, 0.1]}, {"accept_probs": [-1, 0]}),
    *({"u": [2**64, 0.1]}, {"num_accepted": 0}, {"num_accepted": 10**9}, {"num_accepted": None}),
    *({"emitted": None}, {"emitted": []}, {"emitted": [99, 13]}, {"emitted": [11, -1]}),
    *({"top": None}, {"top": [[[11]]]}, {"top": [[[11, 7.0]]]}, {"drafted": [11]}, {"u": []}),
    *({"drafted": [11] * 5000}, {"wall_ms": math.inf}, {"verify_ms": "1"}, {"error": "x" * 10**5}),
]


@pytest.mark.parametrize("change", IMPOSSIBLE)
async def test_an_impossible_trace_falls_back_to_counts(change: dict[str, Any]) -> None:
    with pytest.raises(MalformedReply):
        read_record({**RECORD, **change})
    answered = await ask(traced([FIRST, {**RECORD, **change}], *ANSWER))
    assert answered.trace.fidelity is Fidelity.COUNTED
    assert answered.trace.text == TEXT and answered.trace.token_ids == (10, 11, 13)
    assert "the trace cannot be true" in answered.reason and len(answered.reason) < 500


@pytest.mark.parametrize(
    "bad",
    [
        counts([3], [2], 2), counts([1], [10**9], 2), counts([-1], [2], 2),
        {**counts([1], [2], 2), "num_spec_tokens": "x"},
        {**counts([1], [2], 2), "per_step_drafted": 7},
    ],
)  # fmt: skip
async def test_impossible_counts_fall_back_to_chunk_sizes(bad: dict[str, Any]) -> None:
    lines = (*ANSWER[:2], usage(3, bad))
    answered = await ask(answering(*lines), method=Method.DRAFT_MODEL)
    assert (answered.trace.fidelity, answered.trace.text) == (Fidelity.INFERRED, TEXT)
    assert "counts cannot be true" in answered.reason
    sample = sample_of(read_answer([(1.0, stream(*lines))], 0.0, VLLM), "id", speculates=True)
    assert sample.per_step_accepted is None and sample.text == TEXT


def test_counts_of_another_answer_are_not_a_samples() -> None:
    lines = (*ANSWER[:2], usage(3, counts([2] * 50, [2] * 50, 2)))
    sample = sample_of(read_answer([(1.0, stream(*lines))], 0.0, VLLM), "id", speculates=True)
    assert (sample.per_step_accepted, sample.fidelity) == (None, Fidelity.INFERRED)


async def test_a_stream_that_breaks_keeps_tokens_whose_record_is_missing() -> None:
    answered = await ask(traced([FIRST], tokens(10), tokens(11, 13), "{not json"))
    assert answered.error is not None and "not valid JSON" in answered.error
    assert (answered.trace.text, answered.trace.token_ids) == (TEXT, (10, 11, 13))


# limits of time and size


async def test_a_trace_that_never_ends_does_not_keep_an_answer_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arrivals, "TRACE_GRACE_S", 0.2)
    nothing = (json.dumps({**FIRST, "emitted": []}) + "\n").encode()
    server = traced([], *ANSWER)
    server.says["/specviz/trace"] = repeating(then=nothing, every_s=0.01)
    answered = await ask(server)
    assert answered.trace.finish_reason == "stop" and answered.trace.text == TEXT


@pytest.mark.parametrize("every_s", [0.0, 0.01])
async def test_an_answer_that_never_ends_is_given_up(every_s: float) -> None:
    server = answering()
    server.says["/v1/chat/completions"] = repeating(then=stream(tokens(7)), every_s=every_s)
    answered = await ask(server, stall_timeout_s=3.0)
    assert answered.error is not None and answered.error.endswith("what arrived is kept.")
    assert set(answered.trace.token_ids) == {7}


@pytest.mark.parametrize("drip", [b"x", b": ping\n\n", stream(chunk("")), b"\n"])
async def test_bytes_that_say_nothing_do_not_put_the_end_off(drip: bytes) -> None:
    server = answering()
    server.says["/v1/chat/completions"] = repeating(stream(tokens(7)), then=drip, every_s=0.01)
    answered = await ask(server, stall_timeout_s=3.0)
    assert answered.error is not None and "nothing for 3 s" in answered.error
    assert answered.trace.text == "t7 "


def test_the_timing_client_looks_for_news_and_not_for_bytes() -> None:
    reads: list[Read] = [(1.0, stream(tokens(7)))]
    reads += [(1.0 + at / 2, stream(chunk(""))) for at in range(100)]
    assert last_news_s(reads, 0.5, 9, VLLM) == 1.0
    assert last_news_s([*reads, (300.0, b"x")], 0.5, 9, VLLM) == 1.0
    assert last_news_s([*reads, (300.0, stream(tokens(8)))], 0.5, 9, VLLM) == 300.0
    assert last_news_s([], 0.5, 9, VLLM) == 0.5
    with pytest.raises(StreamBroken, match="far more than the 9 tokens"):
        last_news_s([(1.0, stream(tokens(7)) * 200)], 0.5, 9, VLLM)


async def test_the_timing_client_gives_a_drip_up() -> None:
    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n")
        with suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.02)
        writer.close()

    peer = await asyncio.start_server(drip, "127.0.0.1", 0)
    found, http = await answering().found()
    engine = TimedServer(found, http, stall_timeout_s=0.2)
    engine._connections._address = peer.sockets[0].getsockname()
    with pytest.raises(StreamBroken, match=r"nothing for 0\.2 s"):
        await engine.sample(Prompt("hello"), Sampling(max_tokens=9))
    await engine.close()
    await asyncio.sleep(0.1)  # until the peer has seen it
    peer.close()


# the server's own words, and where it points


@pytest.mark.parametrize(
    "body",
    [json.dumps({"error": {"message": "no " * 50_000}}), '{"error":' + "[" * 100_000, "x" * 10**6],
)
async def test_long_error_texts_are_cut(body: str) -> None:
    server = answering()
    server.says["/v1/chat/completions"] = httpx2.Response(400, content=body)
    error = (await ask(server)).error
    assert error is not None and len(error) < 500
    server.says["/v1/chat/completions"] = stream(body)
    error = (await ask(server)).error
    assert error is not None and len(error) < 500


@pytest.mark.parametrize("status", [101, 301, 302, 307, 308])
async def test_a_prompt_is_not_sent_on_to_another_host(status: int) -> None:
    where = {"Location": "http://elsewhere.test/v1/chat/completions"}
    server = answering()
    server.says["/v1/chat/completions"] = httpx2.Response(status, headers=where)
    answered = await ask(server)
    assert answered.error is not None and "what arrived" not in answered.error
    assert all(asked.startswith("server.test/") for asked in server.asked)
    server.says["/v1/models"] = httpx2.Response(307, headers=where)
    with pytest.raises(NotAnOpenAIServer, match=r"redirects to http://elsewhere\.test"):
        await server.found()
    assert all(asked.startswith("server.test/") for asked in server.asked)

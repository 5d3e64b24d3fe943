"""Both clients read what servers and proxies really send, and read it alike."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specviz.config import Prompt, Sampling
from specviz.errors import StreamBroken
from specviz.live.record import why_no_answer
from specviz.sample import Sample
from specviz.servers.client.chunks import Chunk
from specviz.servers.client.engine import open_server
from specviz.servers.client.reader import AnswerReader
from specviz.servers.sglang.dialect import SGLANG
from specviz.servers.timing.answer import read_answer, sample_of
from specviz.servers.vllm.dialect import VLLM
from specviz.trace import Channel, Fidelity, fold
from tests.support.servers.hostile_server import HostileServer, answering, ask, stream
from tests.support.servers.scripted_server import Script, chunk, serving, usage
from tests.support.servers.streams import (
    ANSWER,
    DONE,
    END,
    LENGTH,
    ROLE,
    USED,
    WORDS,
    A,
    B,
    C,
    Case,
    bare,
    delta,
)

cases = pytest.mark.parametrize("case", [*A, *B, *C], ids=lambda case: case.name)
thinking = pytest.mark.parametrize("case", A, ids=lambda case: case.name)


def proxy(*events: bytes) -> HostileServer:
    """A server of a kind that nobody knows."""
    return HostileServer({"/v1/chat/completions": b"".join(events)})


def timed(*events: bytes, every_s: float = 0.05) -> Sample:
    """The benchmark's reading of a stream of which an event comes every 50 ms."""
    reads = [(at * every_s, event) for at, event in enumerate(events)]
    return sample_of(read_answer(reads, 0.0, VLLM), "id", speculates=None)


@cases
async def test_the_live_client_reads_it(case: Case) -> None:
    answered = await ask(proxy(*case.events))
    assert (answered.trace.text, answered.trace.side_text) == (case.text, case.side)
    if case.error is None:
        assert answered.error is None
        assert answered.trace.finish_reason is not None
    else:
        assert answered.error is not None and case.error in answered.error


@cases
def test_the_benchmarks_client_reads_it(case: Case) -> None:
    if case.error is None:
        sample = timed(*case.events)
        assert (sample.text, sample.side_text) == (case.text, case.side)
        assert sample.finish_reason
    else:
        with pytest.raises(StreamBroken, match=case.error):
            timed(*case.events)


def test_a_thinking_model_is_as_fast_as_its_tokens_come() -> None:
    thought = [delta(reasoning=word) for word in "abcde"]
    sample = timed(ROLE, *thought, *ANSWER[:2], END, USED, DONE)
    assert sample.ttft_ms == pytest.approx(50.0)
    assert sample.ttfo_ms == pytest.approx(300.0)
    assert sample.e2el_ms == pytest.approx(350.0)
    assert len(sample.chunk_ms) == 7


async def test_live_the_first_token_of_any_kind_is_the_first() -> None:
    answered = await ask(proxy(ROLE, delta(reasoning="I think"), *ANSWER, END, DONE))
    first, *rest = answered.trace.emitted
    assert first.channel is Channel.REASONING
    assert {token.channel for token in rest} == {Channel.ANSWER}
    assert answered.trace.ttft_ms == answered.trace.steps[0].elapsed_ms


async def test_traced_ids_always_have_their_text() -> None:
    lines = [
        chunk("", None, prompt_token_ids=[1, 2, 3]),
        _named([10], {}),  # <think>: the parser takes it and sends no text
        _named([11], {"reasoning": "t11 "}),
        _named([12, 13, 14], {"reasoning": "t12 ", "content": "t14 "}),  # 13 is </think>
        _named([15], {"content": ""}, "stop"),
        usage(6),
    ]
    emitted = [[10], [11], [12, 13, 14], [15]]
    records = [_plain(step, ids) for step, ids in enumerate(emitted)]
    handshake = {"tracing": True, "method": "draft_model", "num_speculative_tokens": 2}
    with serving(Script([*lines, "[DONE]"], records, handshake=handshake)) as url:
        engine = await open_server(url)
        trace = fold([event async for event in engine.generate(Prompt("p"), Sampling())])
        await engine.close()
    assert trace.fidelity is Fidelity.TRACED
    shown = [(token.text, token.channel) for token in trace.emitted]
    assert shown == [
        ("t10 ", Channel.MARKUP),
        ("t11 ", Channel.REASONING),
        ("t12 ", Channel.REASONING),
        ("t13 ", Channel.MARKUP),
        ("t14 ", Channel.ANSWER),
        ("", Channel.ANSWER),  # the end of the text
    ]
    assert trace.text == "t14 "


async def test_a_character_in_two_chunks_of_thinking_is_one() -> None:
    halves = [f'{{"choices": [{{"delta": {{"reasoning": "{half}"}}}}]}}' for half in HALVES]
    answered = await ask(proxy(stream(*halves), END, DONE))
    assert answered.trace.side_text == "\U0001f600"


HALVES = ("\\ud83d", "\\ude00")


async def test_ids_that_come_with_the_end_name_the_thinking_too() -> None:
    def counted(tokens: int, **fields: str) -> str:
        body = json.loads(delta(**fields)[6:])
        return json.dumps({**body, "usage": {"prompt_tokens": 3, "completion_tokens": tokens}})

    last = {"choices": [], "sglext": {"output_ids": [[5, 6, 7]]}}
    lines = [
        counted(1, reasoning_content="t5 "),
        counted(2, reasoning_content="t6 "),
        counted(3, content="t7 "),
        END[6:].decode(),
        json.dumps(last),
    ]
    answer = read_answer([(1.0, stream(*lines, "[DONE]"))], 0.0, SGLANG)
    sample = sample_of(answer, "id", speculates=None)
    assert sample.token_ids == (5, 6, 7)
    assert (sample.side_text, sample.text) == ("t5 t6 ", "t7 ")


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ((delta(reasoning="I think"), LENGTH), "thinking used up the output tokens"),
        ((delta(reasoning="I think"), END), "ended it after thinking"),
        ((delta(tool_calls=[{"function": {"name": "get"}}]), END), "called a tool"),
        ((delta(refusal="No."), END), "refused"),
        ((END,), "ended it at once"),
        ((*ANSWER, END), None),
    ],
)
async def test_an_answer_without_text_is_told(events: tuple[bytes, ...], says: str | None) -> None:
    said = why_no_answer((await ask(proxy(*events, DONE))).trace)
    assert said is None if says is None else said is not None and says in said


# refused before any stream: the server's words, and a guess only where it is certain


@pytest.mark.parametrize(
    ("status", "body", "says", "not_said"),
    [
        (
            404,
            {"error": {"message": "No endpoints found", "code": 404}},
            "No endpoints",
            "not serve",
        ),
        (404, {"detail": "Not Found"}, "Not Found", "not serve"),
        (403, {"error": {"message": "flagged by moderation"}}, "flagged by", "API key"),
        (401, {"error": {"message": "the key has expired"}}, "the key has expired", "\n"),
        (401, {"error": {"message": "the key has expired"}}, "wants an API key", "\n"),
        (
            422,
            {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs"}]},
            "body.stream_options: Extra inputs",
            "[{",
        ),
        (400, {"error": "Model is an embedding model"}, "embedding model", "{"),
        (429, {"msg": "too many requests", "code": 1302}, "too many requests", "{"),
    ],
)
async def test_a_refusal_is_told_in_the_servers_words(
    status: int, body: dict[str, Any], says: str, not_said: str
) -> None:
    server = answering()
    server.says["/v1/chat/completions"] = httpx2.Response(status, json=body)
    error = (await ask(server)).error
    assert error is not None and says in error and not_said not in error


# whatever the order, what is missing, null or unknown: nothing that arrived is lost


@st.composite
def recombined(draw: st.DrawFn) -> tuple[list[bytes], str, str]:
    """A stream of recorded shapes in any order, and the answer and the rest that are in it."""
    pieces: list[tuple[bytes, str, str]] = draw(st.lists(st.sampled_from(PIECES), max_size=12))
    events, text, side = list[bytes](), "", ""
    for event, adds, beside in pieces:
        events.append(_disturbed(draw, event))
        text, side = text + adds, side + beside
    end = draw(st.sampled_from(ENDS))
    return [*events, *end, draw(st.sampled_from([DONE, USED, b"", b": bye\n\n"]))], text, side


@st.composite
def _unknown(draw: st.DrawFn) -> dict[str, Any]:
    names = st.sampled_from(
        ["x_groq", "provider", "stats", "logprobs", "obfuscation", "p", "nonce"]
    )
    values = st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just([{}])
    return draw(st.dictionaries(names, values, max_size=2))


def _disturbed(draw: st.DrawFn, event: bytes) -> bytes:
    if not event.startswith(b"data: {"):
        return event
    body = json.loads(event[6:])
    body = {**draw(_unknown()), **body}
    for one in filter(None, body.get("choices") or []):
        one.update({**draw(_unknown()), **one})
        if draw(st.booleans()):
            one["delta"] = {**{"role": None, "refusal": None}, **(one.get("delta") or {})}
    for name in draw(st.lists(st.sampled_from(["id", "model", "usage"]), max_size=2)):
        body[name] = None
    if draw(st.booleans()):
        body = dict(reversed(body.items()))
    prefix, end = draw(st.sampled_from([(b"data: ", b"\n\n"), (b"data:", b"\r\n\r\n")]))
    return prefix + json.dumps(body).encode() + end


PIECES = [
    (ROLE, "", ""),
    *((event, word, "") for event, word in zip(ANSWER, WORDS, strict=True)),
    (delta(reasoning="r"), "", "r"),
    (delta(reasoning_content="rc", content=None), "", "rc"),
    (delta(reasoning="r", reasoning_content="r"), "", "r"),
    (delta(reasoning="r", content="c"), "c", "r"),
    (delta(content=[{"type": "text", "text": "p"}]), "p", ""),
    (delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "t"}]}]), "", "t"),
    (delta(refusal="no"), "", "no"),
    (delta(tool_calls=[{"index": 0, "function": {"name": None, "arguments": "{}"}}]), "", "{}"),
    (delta(tool_calls=None, function_call=None), "", ""),
    (bare(choices=[]), "", ""),
    (bare(choices=None), "", ""),
    (bare(choices=[None]), "", ""),
    (bare(), "", ""),
    (bare(choices=[{"index": 0, "delta": None}]), "", ""),
    (bare(choices=[{"index": 0}], prompt_filter_results=[]), "", ""),
    (USED, "", ""),
    (b"data:\n\n", "", ""),
    (b"data: null\n\n", "", ""),
    (b": ping\n\n", "", ""),
    (b"event: message\nid: 1\nretry: 5\n", "", ""),
]
ENDS = [
    [END],
    [LENGTH],
    [bare(choices=[{"index": 0, "finish_reason": "stop"}])],
    [bare(choices=[{"index": 0, "delta": None, "finish_reason": "stop"}]), USED],
    [delta("stop"), b'data: {"cut'],
]


def _check_recombined(made: tuple[list[bytes], str, str]) -> None:
    events, text, side = made
    reader = AnswerReader(VLLM.read_extras)
    chunks: list[Chunk] = []
    broken: StreamBroken | None = None
    try:
        for line in b"".join(events).splitlines():
            chunks += reader.take(line, 0.0)
    except StreamBroken as error:  # JSON without its end, behind the reason to end
        broken = error
    try:
        chunks += reader.rest(broken)
    except StreamBroken as error:
        assert not text + side and "sent none of them" in str(error)
    pieces = [piece for one in chunks for piece in one.pieces]
    assert "".join(t for t, channel in pieces if channel is Channel.ANSWER) == text
    assert "".join(t for t, channel in pieces if channel is not Channel.ANSWER) == side
    assert reader.is_whole


@settings(max_examples=200)
@given(recombined())
def test_nothing_that_arrived_is_lost(made: tuple[list[bytes], str, str]) -> None:
    _check_recombined(made)


@pytest.mark.slow
@settings(max_examples=5_000, deadline=None)
@given(recombined())
def test_nothing_that_arrived_is_lost_in_5000_streams(made: tuple[list[bytes], str, str]) -> None:
    _check_recombined(made)


def _named(ids: list[int], fields: dict[str, str], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": fields, "token_ids": ids, "finish_reason": finish}
    return json.dumps({"id": "c", "choices": [choice]})


def _plain(step: int, emitted: list[int]) -> dict[str, Any]:
    """The plugin's record of a step whose drafts were all accepted."""
    drafted = emitted[:-1]
    known = [0.5] * len(drafted)
    return {
        "step": step,
        "t_ms": float(step),
        "drafted": drafted,
        "draft_probs": known,
        "target_probs": known,
        "accept_probs": [1.0] * len(drafted),
        "u": [0.1] * len(drafted),
        "top": [[[one, 0.5]] for one in drafted],
        "emitted": emitted,
        "num_accepted": len(drafted),
        "draft_ms": 1.0,
        "verify_ms": 2.0,
        "wall_ms": 3.0,
    }

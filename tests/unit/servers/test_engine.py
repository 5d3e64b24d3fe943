"""The client against a stand-in that says exactly what the test wants, mistakes included."""

from __future__ import annotations

from typing import Any

import pytest

from specviz.config import Prompt, Sampling
from specviz.errors import (
    EngineError,
    NotAnOpenAIServer,
    RequestRefused,
    ServerUnreachable,
    StreamBroken,
    UsageError,
)
from specviz.methods import Method
from specviz.servers.client.engine import open_server
from specviz.trace import Allowed, Event, Fidelity, Origin, Trace, Verdict, fold
from tests.support.servers.scripted_server import CUT, STALL, Script, chunk, counts, serving, usage

PROMPT = Prompt("hello")
SAMPLING = Sampling(max_tokens=9)
ROLE = chunk("", None, prompt_token_ids=[1, 2, 3])
DONE = "[DONE]"
ANSWER = [ROLE, chunk("a", [5], "stop"), DONE]
HANDSHAKE = {"tracing": True, "method": "draft_model", "num_speculative_tokens": 2}


def record(step: int, drafted: list[int], emitted: list[int], accepted: int) -> dict[str, Any]:
    judged = min(accepted + 1, len(drafted))
    return {
        "step": step,
        "t_ms": float(step),
        "drafted": drafted,
        "draft_probs": [0.5] * len(drafted),
        "target_probs": [0.25] * len(drafted),
        "accept_probs": [0.5] * len(drafted),
        "u": [0.4 if index < accepted else 0.6 for index in range(len(drafted))],
        "top": [[[drafted[index], 0.25]] for index in range(judged)],
        "emitted": emitted,
        "num_accepted": accepted,
        "draft_ms": 1.0,
        "verify_ms": 2.0,
        "wall_ms": 3.0,
    }


async def collect(
    script: Script, prompt: Prompt = PROMPT, sampling: Sampling = SAMPLING, **options: Any
) -> tuple[Trace, EngineError | None]:
    """Run one request; the error is what `generate` raised after what arrived."""
    events: list[Event] = []
    error: EngineError | None = None
    with serving(script) as url:
        engine = await open_server(url, **options)
        try:
            async for event in engine.generate(prompt, sampling):
                events.append(event)
        except EngineError as raised:
            error = raised
        finally:
            await engine.close()
    return fold(events), error


async def test_traced_steps_carry_the_drafts_and_their_verdicts() -> None:
    script = Script(
        lines=[
            ROLE,
            chunk("t10 ", [10]),
            chunk("t11 t12 t13 ", [11, 12, 13]),
            chunk("t14 ", [14], "length"),
            usage(5),
            DONE,
        ],
        records=[
            record(0, [], [10], 0),
            record(1, [11, 12], [11, 12, 13], 2),
            record(2, [77, 78], [14], 0),
        ],
        handshake=HANDSHAKE,
    )
    trace, error = await collect(script)
    assert error is None
    assert trace.fidelity is Fidelity.TRACED
    assert trace.token_ids == (10, 11, 12, 13, 14)
    assert trace.text == "t10 t11 t12 t13 t14 "
    assert trace.prompt_token_ids == (1, 2, 3)
    origins = [token.origin for token in trace.emitted]
    accepted = Origin.ACCEPTED
    assert origins == [Origin.TARGET, accepted, accepted, Origin.BONUS, Origin.RECOVERED]
    last = trace.steps[2]
    assert [token.verdict for token in last.drafted] == [Verdict.REJECTED, Verdict.UNVERIFIED]
    assert last.drafted[0].text == "t77 "
    assert last.drafted[0].u == 0.6
    assert last.drafted[1].target_prob is None  # never judged
    assert [token.depth for token in last.drafted] == [1, 2]


async def test_a_step_cut_short_by_max_tokens_keeps_its_decisions() -> None:
    script = Script(
        lines=[ROLE, chunk("t10 ", [10]), chunk("t11 ", [11], "length"), usage(2), DONE],
        records=[record(0, [], [10], 0), record(1, [11, 12], [11, 12, 13], 2)],
        handshake=HANDSHAKE,
    )
    trace, _ = await collect(script)
    assert trace.token_ids == (10, 11)
    assert trace.steps[1].num_accepted == 2


async def test_merged_chunks_are_split_into_the_steps_of_the_trace() -> None:
    script = Script(
        lines=[ROLE, chunk("t10 t11 t12 t13 t14 ", [10, 11, 12, 13, 14], "stop"), usage(5), DONE],
        records=[
            record(0, [], [10], 0),
            record(1, [11, 99], [11, 12], 1),
            record(2, [13, 99], [13, 14], 1),
        ],
        handshake=HANDSHAKE,
    )
    trace, _ = await collect(script)
    assert [len(step.emitted) for step in trace.steps] == [1, 2, 2]


async def test_a_trace_that_disagrees_with_the_stream_is_not_believed() -> None:
    script = Script(
        lines=[
            ROLE,
            chunk("t10 ", [10]),
            chunk("t11 t12 ", [11, 12], "stop"),
            usage(3, counts([1], [2], 2)),
            DONE,
        ],
        records=[record(0, [], [10], 0), record(1, [50, 51], [50, 52], 1)],
        handshake=HANDSHAKE,
    )
    trace, _ = await collect(script)
    assert trace.fidelity is Fidelity.COUNTED
    assert trace.token_ids == (10, 11, 12)


async def test_without_the_plugin_the_counts_label_every_token() -> None:
    script = Script(
        lines=[
            ROLE,
            chunk("t10 ", [10]),
            chunk("t11 t12 t13 ", [11, 12, 13]),
            chunk("t14 ", [14], "stop"),
            usage(5, counts([2, 0], [2, 2], 2)),
            DONE,
        ]
    )
    trace, _ = await collect(script, method=Method.DRAFT_MODEL)
    assert trace.fidelity is Fidelity.COUNTED
    assert [token.origin for token in trace.emitted][-2:] == [Origin.BONUS, Origin.RECOVERED]
    assert trace.steps[2].drafted[0].token_id is None  # rejected drafts are counted, not named
    assert "return_token_ids" in script.requests[0]


async def test_a_server_that_is_not_vllm_is_inferred_and_not_asked_for_extras() -> None:
    lines = [chunk("Hello"), chunk(" world", finish="stop"), DONE]
    script = Script(lines=lines, version=None)
    trace, error = await collect(script)
    assert error is None
    assert trace.fidelity is Fidelity.INFERRED
    assert trace.text == "Hello world"
    assert {token.origin for token in trace.emitted} == {Origin.UNKNOWN}
    assert trace.token_ids == ()
    assert "return_token_ids" not in script.requests[0]


async def test_a_server_that_does_not_speculate_emits_target_tokens() -> None:
    script = Script(
        lines=[ROLE, chunk("t10 ", [10]), chunk("t11 t12 ", [11, 12], "stop"), usage(3), DONE],
        speculates=False,
    )
    trace, _ = await collect(script)
    assert len(trace.steps) == 3  # the server merged two of them into one chunk
    assert {token.origin for token in trace.emitted} == {Origin.TARGET}
    assert trace.fidelity is Fidelity.COUNTED


@pytest.mark.parametrize(
    ("tail", "says"),
    [
        ([CUT], "has probably exited"),
        ([], "cut it off"),
        (["{not json", DONE], "not valid JSON"),
        (['{"choices": [{"delta": {"content": 5}}]}', DONE], "OpenAI's streaming format"),
        (['{"choices": [{"index": 0}]}', DONE], "cut it off"),
        (['{"error": {"message": "the engine is dead"}}', DONE], "the engine is dead"),
        ([STALL], "nothing for 3 s"),
    ],
)
async def test_a_broken_stream_is_one_sentence_and_keeps_what_arrived(
    tail: list[str], says: str
) -> None:
    script = Script(lines=[ROLE, chunk("t10 ", [10]), *tail])
    trace, error = await collect(script, stall_timeout_s=3.0 if STALL in tail else 60.0)
    assert isinstance(error, StreamBroken)
    assert says in str(error) and "kept" in str(error)
    assert "\n" not in str(error)
    assert trace.text == "t10 "


@pytest.mark.parametrize(
    ("status", "kind"), [(400, RequestRefused), (404, RequestRefused), (500, StreamBroken)]
)
async def test_a_refusal_carries_the_servers_own_reason(
    status: int, kind: type[EngineError]
) -> None:
    script = Script(status=status, error="the prompt has 80 tokens, the context 64")
    _, error = await collect(script)
    assert isinstance(error, kind)
    assert "80 tokens" in str(error)


async def test_an_unknown_model_names_those_that_are_served() -> None:
    with serving(Script()) as url, pytest.raises(RequestRefused, match="serves demo"):
        await open_server(url, model="other")


async def test_nothing_at_the_url() -> None:
    with pytest.raises(ServerUnreachable, match="check the address"):
        await open_server("http://127.0.0.1:9")


@pytest.mark.parametrize("models", [{"hello": 1}, [], {"data": []}, {"data": [1]}])
async def test_a_url_that_is_not_an_openai_server(models: Any) -> None:
    with serving(Script(models=models)) as url, pytest.raises(NotAnOpenAIServer):
        await open_server(url)


@pytest.mark.parametrize("url", ["", "ftp://host", "http://", "a b c", "http://127.0.0.1:99999"])
async def test_something_that_is_not_a_url(url: str) -> None:
    with pytest.raises(UsageError, match="write one like"):
        await open_server(url)


async def test_a_server_with_a_policy_gets_the_k_and_the_kind_of_prompt() -> None:
    handshake = {**HANDSHAKE, "policy": True}
    script = Script(lines=ANSWER, records=[record(0, [], [5], 0)], handshake=handshake)
    prompt = Prompt("hello", category="code_generation")
    await collect(script, prompt, Sampling(max_tokens=9, spec_k=0))
    await collect(script, prompt)
    await collect(script)
    assert [request["vllm_xargs"] for request in script.requests] == [
        {"spec_k": 0, "category": "code_generation"},
        {"category": "code_generation"},
        {},
    ]


async def test_a_server_without_a_policy_gets_neither_and_refuses_a_k() -> None:
    script = Script(lines=ANSWER, records=[record(0, [], [5], 0)], handshake=HANDSHAKE)
    await collect(script, Prompt("hello", category="code_generation"))
    assert "vllm_xargs" not in script.requests[0]
    _, error = await collect(script, sampling=Sampling(max_tokens=9, spec_k=2))
    assert isinstance(error, RequestRefused) and "--policy" in str(error)
    assert len(script.requests) == 1


async def test_a_step_says_what_the_policy_allowed() -> None:
    records = [record(0, [], [10], 0), record(1, [11], [11, 12], 1)]
    records[1]["allowed"] = {"k": 1, "reason": "min_p"}
    lines = [ROLE, chunk("t10 ", [10]), chunk("t11 t12 ", [11, 12], "length"), DONE]
    trace, _ = await collect(Script(lines=lines, records=records, handshake=HANDSHAKE))
    assert [step.allowed for step in trace.steps] == [None, Allowed(1, "min_p")]

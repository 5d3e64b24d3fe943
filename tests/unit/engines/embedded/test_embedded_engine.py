"""The engine as its users see it: events in order, cuts, cancelling, seeds."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any

import pytest

from specviz.config import Prompt, Sampling
from specviz.engines.embedded.engine import EmbeddedEngine
from specviz.engines.embedded.opening import tokenizer_in
from specviz.engines.embedded.proposers.draft_model import DraftModel
from specviz.errors import RequestRefused
from specviz.trace import (
    ROOT,
    Event,
    Fidelity,
    Origin,
    RequestFinished,
    RequestStarted,
    Step,
    Trace,
    Verdict,
    fold,
)
from tests.support.demo_models import DEMO_TARGET
from tests.support.embedded.tiny_models import CPU, load_tiny, save_tiny

PROMPT = Prompt("Order 3, 148, 108.")
ROOM = 128


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory):
    """A random target over the demo vocabulary, and the same with noise as its draft."""
    folder = tmp_path_factory.mktemp("models")
    sizes = {"vocab_size": 4096, "max_position_embeddings": ROOM, "sharpness": 0.6}
    target = load_tiny(save_tiny(folder / "target", seed=1, eos_token_id=None, **sizes))
    draft = load_tiny(save_tiny(folder / "draft", seed=1, eos_token_id=None, **sizes))
    draft.final_norm = draft.final_norm * 0.8  # less sure than the target, else the same
    assert target.device == CPU
    return target, draft


@pytest.fixture
def new_engine(models):
    def make(k: int = 5, **settings: Any) -> EmbeddedEngine:
        target, draft = models
        proposer = DraftModel(draft) if k else None
        return EmbeddedEngine(target, tokenizer_in(DEMO_TARGET), proposer, k=k, **settings)

    return make


async def events_of(engine: EmbeddedEngine, sampling: Sampling, prompt: Prompt = PROMPT):
    return [event async for event in engine.generate(prompt, sampling)]


async def answer(engine: EmbeddedEngine, **sampling: Any) -> Trace:
    return fold(await events_of(engine, Sampling(**sampling)))


def decode_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "embedded-decode"]


def steps_of(events: list[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


async def test_events_come_in_order(new_engine) -> None:
    events = await events_of(new_engine(), Sampling(max_tokens=20))
    steps = steps_of(events)
    assert isinstance(events[0], RequestStarted) and events[0].fidelity is Fidelity.TRACED
    assert isinstance(events[-1], RequestFinished) and len(steps) == len(events) - 2
    assert [step.index for step in steps] == list(range(len(steps)))
    elapsed = [step.elapsed_ms for step in steps]
    assert elapsed == sorted(elapsed) and events[-1].e2el_ms >= elapsed[-1]
    assert events[-1].ttft_ms == elapsed[0]
    positions = [token.position for step in steps for token in step.emitted]
    assert positions == list(range(20))


async def test_prompt_is_told_and_the_first_step_drafts_nothing(new_engine) -> None:
    trace = await answer(new_engine(), max_tokens=8)
    assert list(trace.prompt_token_ids) == tokenizer_in(DEMO_TARGET).encode_chat(PROMPT.messages)
    assert trace.steps[0].drafted == () and trace.steps[0].draft_ms is None
    assert [token.origin for token in trace.steps[0].emitted] == [Origin.TARGET]
    assert trace.extra_bytes is not None and trace.extra_bytes.weights > 0


async def test_speculation_says_what_plain_decoding_says(new_engine) -> None:
    plain = await answer(new_engine(0), max_tokens=40)
    fast = await answer(new_engine(5), max_tokens=40)
    assert fast.token_ids == plain.token_ids and fast.text == plain.text
    assert len(fast.steps) < len(plain.steps)
    assert all(len(step.emitted) == 1 and not step.drafted for step in plain.steps)


async def test_steps_account_for_every_token(new_engine) -> None:
    trace = await answer(new_engine(), max_tokens=40, temperature=0.9, seed=3)
    for step in trace.steps[1:-1]:
        accepted = [t.token_id for t in step.drafted if t.verdict is Verdict.ACCEPTED]
        *head, last = step.emitted
        assert [token.token_id for token in head] == accepted
        assert all(token.origin is Origin.ACCEPTED for token in head)
        assert last.origin in (Origin.RECOVERED, Origin.BONUS)
        assert step.num_accepted == len(accepted)
        assert step.wall_ms == pytest.approx(step.draft_ms + step.verify_ms)
        assert [t.parent for t in step.drafted] == list(range(ROOT, len(step.drafted) - 1))
        assert [t.depth for t in step.drafted] == list(range(1, len(step.drafted) + 1))


async def test_u_and_accept_prob_reproduce_the_verdicts(new_engine) -> None:
    trace = await answer(new_engine(), max_tokens=60, temperature=1.1, top_p=0.9, seed=4)
    verdicts = set()
    for decision in (decision for step in trace.steps for decision in step.drafted):
        verdicts.add(decision.verdict)
        if decision.verdict is Verdict.UNVERIFIED:
            assert decision.u is None and decision.accept_prob is None
        else:
            accepted = decision.verdict is Verdict.ACCEPTED
            assert accepted == (decision.u <= decision.accept_prob)
            ratio = decision.target_prob / decision.draft_prob
            assert decision.accept_prob == pytest.approx(min(1.0, ratio), rel=1e-4)
        best = decision.target_top
        assert [top.prob for top in best] == sorted((top.prob for top in best), reverse=True)
    assert verdicts == set(Verdict)


async def test_greedy_decisions_draw_nothing(new_engine) -> None:
    trace = await answer(new_engine(), max_tokens=20)
    for decision in (decision for step in trace.steps for decision in step.drafted):
        assert decision.u is None
        is_best = decision.token_id == decision.target_top[0].token_id
        if decision.verdict is not Verdict.UNVERIFIED:
            assert decision.accept_prob == float(is_best)
            assert (decision.verdict is Verdict.ACCEPTED) == is_best


async def test_untraced_run_counts_but_does_not_look(new_engine) -> None:
    events = await events_of(new_engine(traced=False), Sampling(max_tokens=12))
    assert events[0].fidelity is Fidelity.COUNTED
    decisions = [d for step in steps_of(events) for d in step.drafted]
    assert decisions and all(d.target_prob is None and not d.target_top for d in decisions)
    traced = await answer(new_engine(), max_tokens=12)
    assert fold(events).token_ids == traced.token_ids


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7])
async def test_max_tokens_cuts_inside_a_step(new_engine, count: int) -> None:
    whole = await answer(new_engine(), max_tokens=20)
    trace = await answer(new_engine(), max_tokens=count)
    assert trace.token_ids == whole.token_ids[:count] and trace.finish_reason == "length"


async def test_end_token_stops_and_is_the_last(new_engine, models, monkeypatch) -> None:
    target, _ = models
    whole = await answer(new_engine(), max_tokens=40)
    step = next(step for step in whole.steps[1:] if len(step.emitted) > 2)
    end = step.emitted[1].token_id  # an accepted token with more behind it
    monkeypatch.setattr(target, "config", replace(target.config, eos_ids=frozenset({end})))
    trace = await answer(new_engine(), max_tokens=40)
    place = whole.token_ids.index(end)
    assert trace.token_ids == whole.token_ids[: place + 1] and trace.finish_reason == "stop"


async def test_too_long_prompt_is_refused_in_words(new_engine) -> None:
    engine = new_engine()
    prompt = Prompt("word " * 200)
    with pytest.raises(RequestRefused, match="the model reads at most 128: shorten the prompt"):
        await events_of(engine, Sampling(), prompt)
    assert not decode_threads()
    assert (await answer(engine, max_tokens=3)).finish_reason == "length"


async def test_answer_ends_where_the_model_does(new_engine) -> None:
    trace = await answer(new_engine(), max_tokens=500)
    assert len(trace.prompt_token_ids) + len(trace.token_ids) == ROOM
    assert trace.finish_reason == "length"


async def test_closing_the_iterator_ends_the_thread(new_engine) -> None:
    engine = new_engine()
    stream = engine.generate(PROMPT, Sampling(max_tokens=100))
    async for event in stream:
        if isinstance(event, Step) and event.index == 2:
            break
    await stream.aclose()
    assert not decode_threads()
    again = await answer(engine, max_tokens=20)
    assert again.token_ids == (await answer(new_engine(), max_tokens=20)).token_ids


async def test_cancelled_task_ends_the_thread(new_engine) -> None:
    reached = asyncio.Event()

    async def request() -> None:
        async for event in new_engine().generate(PROMPT, Sampling(max_tokens=100)):
            if isinstance(event, Step):
                reached.set()
                await asyncio.sleep(60)

    task = asyncio.create_task(request())
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for _ in range(100):  # the generator is closed by the loop's own hook
        if not decode_threads():
            break
        await asyncio.sleep(0.05)
    assert not decode_threads()


async def test_same_seed_repeats_every_decision(new_engine) -> None:
    def decisions(trace: Trace) -> list[Any]:
        return [
            [(d.token_id, d.u, d.accept_prob, d.verdict) for d in step.drafted]
            + [(token.token_id, token.text) for token in step.emitted]
            for step in trace.steps
        ]

    sampling = {"max_tokens": 40, "temperature": 1.0, "top_p": 0.95}
    first = decisions(await answer(new_engine(), seed=8, **sampling))
    assert first == decisions(await answer(new_engine(), seed=8, **sampling))
    assert first != decisions(await answer(new_engine(), seed=9, **sampling))


async def test_two_engines_at_once_do_not_disturb_each_other(new_engine) -> None:
    samplings = [{"max_tokens": 50, "temperature": 1.0, "seed": seed} for seed in (1, 2)]
    alone = [(await answer(new_engine(), **sampling)).token_ids for sampling in samplings]
    together = await asyncio.gather(*(answer(new_engine(), **s) for s in samplings))
    assert [trace.token_ids for trace in together] == alone


async def test_text_is_that_of_all_tokens(new_engine) -> None:
    trace = await answer(new_engine(), max_tokens=60, temperature=1.0, seed=2)
    backend = tokenizer_in(DEMO_TARGET).backend
    whole = backend.decode(list(trace.token_ids), skip_special_tokens=True)
    assert whole.startswith(trace.text) or whole.rstrip("\ufffd") == trace.text.rstrip("\ufffd")
    assert trace.text

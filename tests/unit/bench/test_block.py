"""Requests of one block on a real event loop: how many at once, when, and what ends them."""

from __future__ import annotations

import asyncio
import random
import time
from itertools import pairwise

import pytest

from specviz.bench.block import Answered, Block, Talk
from specviz.bench.load.load import Load
from specviz.config import Message, Prompt, Sampling
from specviz.errors import RequestRefused, StreamBroken
from specviz.prompts.sets import Conversation
from tests.support.bench.samples import FakeEngine, WhenAllAreAsked, conversations

SAMPLING = Sampling(max_tokens=9)


def talks_of(said: tuple[Conversation, ...]) -> list[Talk]:
    return [Talk(index, conversation, SAMPLING) for index, conversation in enumerate(said)]


class Asked(Block):
    """A block over an engine, with its answers."""

    def __init__(self, talks, engine: FakeEngine, goes_on=lambda: True) -> None:
        self.answers: list[Answered] = []
        super().__init__(talks, engine.sample, self.answers.append, goes_on)


async def asked(
    talks: list[Talk],
    engine: FakeEngine,
    *,
    concurrency: int | None = None,
    rate: float | None = None,
    seed: int = 0,
) -> list[Answered]:
    block = Asked(talks, engine)
    await block.run(Load(concurrency, rate), random.Random(seed))
    assert not block.rest
    return block.answers


@pytest.mark.parametrize(("concurrency", "prompts"), [(1, 5), (4, 21), (16, 40), (8, 3)])
async def test_as_many_as_asked_for_are_under_way_and_never_more(
    concurrency: int, prompts: int
) -> None:
    engine = FakeEngine(seconds=0.004)
    answers = await asked(talks_of(conversations(prompts)), engine, concurrency=concurrency)
    assert engine.most == min(concurrency, prompts)
    assert sorted(answer.prompt_index for answer in answers) == list(range(prompts))
    assert set(engine.answered.values()) == {1}


async def test_a_stream_takes_the_next_prompt_as_soon_as_it_is_free() -> None:
    """One slow answer does not hold up the others' stream."""

    class OneSlow(FakeEngine):
        async def sample(self, prompt: Prompt, sampling: Sampling):
            while prompt.text == "prompt 0.0" and len(self.answered) < 29:
                await asyncio.sleep(0.001)
            return await super().sample(prompt, sampling)

    answers = await asked(talks_of(conversations(30)), OneSlow(), concurrency=2)
    assert [answer.prompt_index for answer in answers] == [*range(1, 30), 0]


async def test_a_later_turn_sends_what_was_said() -> None:
    engine = FakeEngine()
    conversation = Conversation(
        "id", ("one", "two", "three"), "qa", 7, (Message("system", "Be brief."),)
    )
    answers = await asked(talks_of((conversation,)), engine, concurrency=4)
    assert [answer.turn for answer in answers] == [0, 1, 2]
    assert [prompt.text for prompt in engine.asked] == ["one", "two", "three"]
    assert [message["content"] for message in engine.asked[2].messages] == [
        *("Be brief.", "one", "answer to one", "two", "answer to two", "three")
    ]
    assert {(p.prompt_id, p.category, p.max_tokens) for p in engine.asked} == {("id", "qa", 7)}


async def test_a_conversation_that_was_begun_goes_on_behind_its_answers() -> None:
    engine = FakeEngine()
    (begun,) = conversations(1, turns=3)
    talk = Talk(0, begun, SAMPLING, ("stored 0", "stored 1"))
    (answer,) = await asked([talk], engine, concurrency=1)
    assert (answer.turn, answer.prompt.text) == (2, "prompt 0.2")
    assert [m.content for m in answer.prompt.earlier][1::2] == ["stored 0", "stored 1"]


async def test_a_turn_that_fails_ends_its_conversation_only() -> None:
    def fail(prompt: Prompt) -> None:
        if prompt.text == "prompt 1.1":
            raise StreamBroken("The stream broke.")

    engine = FakeEngine(say=fail)
    answers = await asked(talks_of(conversations(3, turns=3)), engine, concurrency=2)
    assert len(answers) == 8
    (failed,) = [answer for answer in answers if answer.error]
    assert failed.sample is None and str(failed.error) == "The stream broke."
    assert (failed.prompt_index, failed.turn) == (1, 1)
    assert "prompt 1.2" not in {prompt.text for prompt in engine.asked}


async def test_what_is_no_error_of_ours_comes_out_as_it_is() -> None:
    def fail(prompt: Prompt) -> None:
        raise KeyError("a defect")

    for load in (Load(concurrency=3), Load(request_rate=1000.0)):
        block = Asked(talks_of(conversations(3)), FakeEngine(say=fail))
        with pytest.raises(KeyError, match="a defect"):
            await block.run(load, random.Random(0))


@pytest.mark.parametrize("load", [Load(concurrency=2), Load(request_rate=2000.0)])
async def test_nothing_new_is_sent_when_it_is_to_end(load: Load) -> None:
    engine = FakeEngine(seconds=0.005)
    block = Asked(talks_of(conversations(40)), engine, lambda: len(engine.asked) < 10)
    await block.run(load, random.Random(0))
    sent = len(engine.asked)
    assert 10 <= sent <= 10 + (load.concurrency or 1) - 1
    assert len(block.answers) == sent
    answered = {answer.prompt_index for answer in block.answers}
    assert {talk.prompt_index for talk in block.rest} == set(range(40)) - answered


async def test_a_conversation_is_left_between_its_turns_with_what_was_said() -> None:
    engine = FakeEngine(seconds=0.001)
    block = Asked(talks_of(conversations(2, turns=3)), engine, lambda: len(engine.asked) < 2)
    await block.run(Load(concurrency=1), random.Random(0))
    assert [prompt.text for prompt in engine.asked] == ["prompt 0.0", "prompt 0.1"]
    left = {talk.prompt_index: talk.answers for talk in block.rest}
    assert left == {0: ("answer to prompt 0.0", "answer to prompt 0.1"), 1: ()}


async def test_while_it_waits_for_an_arrival_it_may_be_stopped() -> None:
    engine = FakeEngine()
    go = True
    block = Asked(talks_of(conversations(500)), engine, lambda: go)
    running = asyncio.create_task(block.run(Load(request_rate=20.0), random.Random(1)))
    while len(engine.asked) < 2:
        await asyncio.sleep(0.001)
    go, before = False, len(engine.asked)
    await running
    sent = len(engine.asked)
    assert sent <= before + 1  # the one that had just arrived
    assert len(block.rest) == 500 - sent > 0


async def test_arrivals_do_not_wait_for_answers() -> None:
    engine = WhenAllAreAsked(30)
    await asyncio.wait_for(asked(talks_of(conversations(30)), engine, rate=200.0), 60)
    assert engine.most == 30


async def test_arrivals_are_repeatable_and_as_many_as_asked_for() -> None:
    def times(answers: list[Answered]) -> list[float]:
        due = {answer.prompt_index: answer.sent_ms - answer.queue_ms for answer in answers}
        return [due[index] for index in sorted(due)]

    talks, rate = talks_of(conversations(250)), 1000.0
    first, again, other = [
        times(await asked(talks, FakeEngine(), rate=rate, seed=seed)) for seed in (1, 1, 2)
    ]
    assert first == pytest.approx(again, abs=1e-3)
    assert first != pytest.approx(other, abs=1e-3)
    gaps = [later - earlier for earlier, later in pairwise([0.0, *first])]
    mean = sum(gaps) / len(gaps)
    assert mean == pytest.approx(1000 / rate, rel=0.2)
    # exponential gaps: as spread out as they are long, and never the same
    deviation = (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5
    assert deviation == pytest.approx(mean, rel=0.25)


async def test_a_client_that_is_late_says_so() -> None:
    """A loop that is blocked when a request is due sends it late: that is no server's time."""

    def block_the_loop(prompt: Prompt) -> None:
        if prompt.text == "prompt 0.0":
            time.sleep(0.2)

    answers = await asked(
        talks_of(conversations(20)), FakeEngine(say=block_the_loop), rate=200.0, seed=3
    )
    assert max(answer.queue_ms for answer in answers) > 50


async def test_cancelling_drops_what_is_under_way() -> None:
    engine = FakeEngine(seconds=60)
    block = Asked(talks_of(conversations(10)), engine)
    running = asyncio.create_task(block.run(Load(concurrency=3), random.Random(0)))
    while engine.under_way < 3:
        await asyncio.sleep(0.001)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (engine.under_way, len(block.rest), block.answers) == (0, 7, [])


async def test_a_refused_request_is_an_answer_with_its_reason() -> None:
    def refuse(prompt: Prompt) -> None:
        raise RequestRefused("Too long.")

    (answer,) = await asked(talks_of(conversations(1)), FakeEngine(say=refuse), concurrency=1)
    assert answer.sample is None and isinstance(answer.error, RequestRefused)

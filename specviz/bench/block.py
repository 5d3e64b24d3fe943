"""One block of requests on one arm: closed loop, Poisson arrivals, or a pass of traffic.

Every request is due at some time: when a stream is free, or when it arrives. The time
from then until it is sent is the client's own delay (`queue_ms`), not the server's.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from specviz.bench.load.load import Load
from specviz.bench.load.places import Place
from specviz.bench.load.traffic import Traffic
from specviz.config import Message, Prompt, Sampling
from specviz.errors import SpecvizError
from specviz.prompts.sets import Conversation
from specviz.sample import Sample

Ask = Callable[[Prompt, Sampling], Awaitable[Sample]]


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation to have: `answers` are those that were given before an interruption.
    `place`: where it is in a pass of traffic; None: the load is steady."""

    prompt_index: int
    conversation: Conversation
    sampling: Sampling
    answers: tuple[str, ...] = ()
    place: Place | None = None

    @property
    def turns_left(self) -> int:
        return len(self.conversation.turns) - len(self.answers)

    def prompt(self) -> Prompt:
        """The next turn, with everything said before it."""
        said = list(self.conversation.earlier)
        for turn, answer in zip(self.conversation.turns, self.answers, strict=False):
            said += [Message("user", turn), Message("assistant", answer)]
        return Prompt(
            self.conversation.turns[len(self.answers)],
            self.conversation.item_id,
            self.conversation.category,
            self.conversation.max_tokens,
            tuple(said),
        )


@dataclass(frozen=True, slots=True)
class Answered:
    """One request of a block; exactly one of `sample` and `error` is there. Times in ms."""

    prompt_index: int
    turn: int
    prompt: Prompt
    started_at: datetime
    sent_ms: float
    queue_ms: float
    sample: Sample | None = None
    error: SpecvizError | None = None
    place: Place | None = None


class Block:
    """Requests under way. `on_answer` gets each as it ends; while `goes_on` says no, nothing new
    is sent, and what was not finished stays in `rest`. `phase_ms`: when each phase of traffic
    began, in ms since the block began, and when the last one ended."""

    def __init__(
        self,
        talks: Sequence[Talk],
        ask: Ask,
        on_answer: Callable[[Answered], None],
        goes_on: Callable[[], bool],
    ) -> None:
        self.rest = deque(talks)
        self._ask = ask
        self._on_answer = on_answer
        self._goes_on = goes_on
        self._began = time.perf_counter()
        self._in_flight = 0
        self._ended = asyncio.Event()
        self.phase_ms: tuple[float, ...] | None = None

    async def run(self, load: Load | Traffic, rng: random.Random) -> None:
        """Send everything and wait for the answers. Raises what is no SpecvizError, and what
        `on_answer` raises."""
        self._began = time.perf_counter()
        try:
            await self._send(load, rng)
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None  # the error itself, not the task group's

    async def _send(self, load: Load | Traffic, rng: random.Random) -> None:
        if isinstance(load, Traffic):
            await self._traffic(load)
            return
        if load.request_rate is not None:
            await self._arrivals(load.request_rate, rng)
            return
        assert load.concurrency is not None
        async with asyncio.TaskGroup() as streams:
            for _ in range(min(load.concurrency, len(self.rest))):
                streams.create_task(self._stream())

    async def _stream(self) -> None:
        """One of the closed loop's streams: the next conversation as soon as one has ended."""
        due = self._began
        while self.rest and self._goes_on():
            due = await self._have(self.rest.popleft(), due)

    async def _arrivals(self, rate: float, rng: random.Random) -> None:
        """Conversations come independently of each other, `rate` per second on average."""
        due = self._began
        async with asyncio.TaskGroup() as arrived:
            while self.rest and self._goes_on():
                due += rng.expovariate(rate)
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                if not self._goes_on():
                    break
                arrived.create_task(self._have(self.rest.popleft(), due))

    async def _traffic(self, traffic: Traffic) -> None:
        """One phase after the other, without a pause: what is in flight goes on."""
        began, begins = self._began, list[float]()
        async with asyncio.TaskGroup() as streams:
            for number, seconds in enumerate(traffic.seconds):
                begins.append(began)
                most = traffic.phases[number].load.concurrency if traffic.phases else None
                while self.rest and self._phase_of(self.rest[0]) == number:
                    due = await self._due(self.rest[0], began, most)
                    if not self._goes_on():
                        return
                    self._in_flight += 1
                    streams.create_task(self._in_traffic(self.rest.popleft(), due))
                began = time.perf_counter() if seconds is None else began + seconds
        begins.append(max(began, time.perf_counter()))
        self.phase_ms = tuple((at - self._began) * 1000 for at in begins)

    async def _due(self, talk: Talk, phase_began: float, most: int | None) -> float:
        """When the next request of traffic is due, once it is: at its time, or as soon as fewer
        than `most` are in flight."""
        if talk.place is not None and talk.place.at_s is not None:
            due = phase_began + talk.place.at_s
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            return due
        while most is not None and self._in_flight >= most and self._goes_on():
            self._ended.clear()
            await self._ended.wait()
        return time.perf_counter()

    async def _in_traffic(self, talk: Talk, due: float) -> None:
        try:
            await self._have(talk, due)
        finally:
            self._in_flight -= 1
            self._ended.set()

    @staticmethod
    def _phase_of(talk: Talk) -> int:
        assert talk.place is not None
        return talk.place.phase

    async def _have(self, talk: Talk, due: float) -> float:
        """One conversation, turn after turn; returns when it ended. A failed turn ends it; one
        that is to stop between two turns goes back to `rest`."""
        while talk.turns_left:
            answered, due = await self._turn(talk, due)
            self._on_answer(answered)
            if answered.sample is None:
                break
            talk = replace(talk, answers=(*talk.answers, answered.sample.text))
            if talk.turns_left and not self._goes_on():
                self.rest.appendleft(talk)
                break
        return due

    async def _turn(self, talk: Talk, due: float) -> tuple[Answered, float]:
        prompt, started_at = talk.prompt(), datetime.now(UTC)
        sent = time.perf_counter()
        answered = Answered(
            talk.prompt_index,
            len(talk.answers),
            prompt,
            started_at,
            sent_ms=(sent - self._began) * 1000,
            queue_ms=max(0.0, sent - due) * 1000,
            place=talk.place,
        )
        try:
            sample = await self._ask(prompt, talk.sampling)
        except SpecvizError as error:
            return replace(answered, error=error), time.perf_counter()
        return replace(answered, sample=sample), sent + sample.e2el_ms / 1000

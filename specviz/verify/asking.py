"""Asks the two servers, one after the other, for all that the checks look at."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise

from specviz.config import Prompt, Sampling
from specviz.servers.client.engine import ServerEngine, open_server
from specviz.servers.metrics import RequestTimes
from specviz.servers.timing.timed_server import TimedServer, open_timed_server
from specviz.trace import Trace, fold
from specviz.verify.evidence import (
    Answered,
    Drawn,
    Greedy,
    Speculated,
    Timing,
    TracingCost,
)
from specviz.verify.prompts import held_out, unusual
from specviz.verify.scored import moves, scored, streamed_gaps

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Size:
    """How much is asked.

    `prompts` held-out prompts and the unusual ones greedily, `max_tokens` each; `answers` sampled
    answers of `sampled_tokens` tokens to each of `sampled_prompts`, `at_once` at a time;
    `tracing_rounds` rounds at each of `batches`.
    """

    prompts: int = 12
    max_tokens: int = 64
    temperature: float = 0.8
    sampled_prompts: int = 6
    answers: int = 40
    sampled_tokens: int = 12
    at_once: int = 8
    batches: tuple[int, ...] = (1, 16)
    tracing_rounds: int = 4
    tracing_tokens: int = 32


@dataclass(frozen=True, slots=True)
class _Clients:
    """One server: as the Live page uses it, and as a benchmark does."""

    live: ServerEngine
    timed: TimedServer


async def ask_baseline(url: str, model: str | None, size: Size, note: Note) -> Answered:
    """Raises an EngineError in the user's words, as everything here does."""
    async with _clients(url, model) as clients:
        note("the baseline answers greedily")
        live, prompts, sampling = clients.live, _prompts(size), _greedy(size)
        traces = [await _answer(live, prompt, sampling) for prompt in prompts]
        note("the baseline answers greedily, with log-probabilities: alone, then several at once")
        alone = await scored(live, prompts, sampling, at_once=1)
        among = await scored(live, prompts, sampling, at_once=size.at_once)
        greedy = [
            Greedy(prompt, trace, streamed_gaps(trace, one), moves(one, other))
            for prompt, trace, one, other in zip(prompts, traces, alone, among, strict=True)
        ]
        note("the baseline answers with sampling")
        return Answered(live.server, tuple(greedy), await _sampled(clients.timed, size))


async def ask_speculating(url: str, model: str | None, size: Size, note: Note) -> Speculated:
    async with _clients(url, model) as clients:
        live, timed = clients.live, clients.timed
        note("the speculating server answers greedily, then with sampling")
        before, tokens_before = await timed.counters(), await timed.output_tokens()
        greedy = [
            Greedy(prompt, await _answer(live, prompt, _greedy(size))) for prompt in _prompts(size)
        ]
        drawn = [
            await _answer(live, prompt, Sampling(size.temperature, max_tokens=size.max_tokens))
            for prompt in held_out(size.sampled_prompts)
        ]
        after, tokens_after = await timed.counters(), await timed.output_tokens()
        sampled = await _sampled(timed, size)
        note("the speculating server is timed")
        timing = await _timing(timed, size)
        tracing: tuple[TracingCost, ...] = ()
        if live.traced:
            tracing = tuple([await _tracing_cost(live, batch, size) for batch in size.batches])
        return Speculated(
            answered=Answered(live.server, tuple(greedy), sampled),
            traces=(*(one.trace for one in greedy), *drawn),
            before=before,
            after=after,
            timing=timing,
            tracing=tracing,
            output_tokens=_grown(tokens_before, tokens_after),
        )


def _grown(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _prompts(size: Size) -> tuple[Prompt, ...]:
    return (*held_out(size.prompts), *unusual())


def _greedy(size: Size) -> Sampling:
    return Sampling(max_tokens=size.max_tokens)


async def _answer(engine: ServerEngine, prompt: Prompt, sampling: Sampling) -> Trace:
    return fold([event async for event in engine.generate(prompt, sampling)])


async def _sampled(timed: TimedServer, size: Size) -> tuple[tuple[Drawn, ...], ...]:
    """`size.answers` answers to each prompt, the prompts in turn."""
    sampling = Sampling(size.temperature, max_tokens=size.sampled_tokens)
    gate = asyncio.Semaphore(size.at_once)

    async def one(prompt: Prompt) -> Drawn:
        async with gate:
            answer = await timed.sample(prompt, sampling)
        return Drawn(answer.token_ids, answer.text)

    prompts = held_out(size.sampled_prompts)
    answers = await asyncio.gather(*(one(prompt) for prompt in prompts * size.answers))
    return tuple(tuple(answers[place :: len(prompts)]) for place in range(len(prompts)))


async def _timing(timed: TimedServer, size: Size) -> Timing:
    """One request at a time, between readings of the server's own figures."""
    client, round_trips, readings = [], list[float](), [await timed.request_times()]
    for prompt in held_out(size.prompts):
        round_trips.append(await timed.round_trip_s())
        sample = await timed.sample(prompt, _greedy(size))
        client.append(RequestTimes(1, sample.ttft_ms / 1000, sample.e2el_ms / 1000))
        readings.append(await timed.request_times())
    known = [one for one in readings if one is not None]
    server = tuple(after - before for before, after in pairwise(known))
    return Timing(
        tuple(client), server if len(known) == len(readings) else None, tuple(round_trips)
    )


async def _tracing_cost(engine: ServerEngine, batch: int, size: Size) -> TracingCost:
    """Rounds of the same prompts, untraced and traced in turn, the order alternating.

    One before them is not counted: it pays for what a server does once for a batch of this size,
    and for prompts that are not in its prefix cache yet.
    """
    prompts = (held_out(batch) * batch)[:batch]
    sampling = Sampling(max_tokens=size.tracing_tokens)
    await _round(engine, prompts, sampling, traced=False)
    rounds = []
    for number in range(size.tracing_rounds):
        took = {}
        for traced in (False, True) if number % 2 == 0 else (True, False):
            took[traced] = await _round(engine, prompts, sampling, traced=traced)
        rounds.append((*took[False], *took[True]))
    return TracingCost(batch, tuple(rounds))


async def _round(
    engine: ServerEngine, prompts: Sequence[Prompt], sampling: Sampling, *, traced: bool
) -> tuple[float, int]:
    """Seconds and output tokens."""
    engine.traced = traced
    began = time.perf_counter()
    traces = await asyncio.gather(*(_answer(engine, prompt, sampling) for prompt in prompts))
    return time.perf_counter() - began, sum(len(trace.emitted) for trace in traces)


@asynccontextmanager
async def _clients(url: str, model: str | None) -> AsyncIterator[_Clients]:
    live = await open_server(url, model=model)
    try:
        timed = await open_timed_server(url, model=model)
        try:
            await live.warm_up()
            await timed.prefix_caching()
            yield _Clients(live, timed)
        finally:
            await timed.close()
    finally:
        await live.close()

"""The benchmark's client against real servers: counts to the last token, the live client's ids."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx2
import pytest

from specviz.config import Prompt, Sampling
from specviz.methods import Method
from specviz.prompts.shipped import CATEGORIES
from specviz.sample import Sample
from specviz.servers.client.engine import open_server
from specviz.servers.launch.server import Server
from specviz.servers.metrics import SpecCounters
from specviz.servers.timing.timed_server import TimedServer, open_timed_server
from specviz.trace import Fidelity, fold
from tests.support.demo_models import known_prompts

pytestmark = pytest.mark.integration

PROMPTS = [prompt for category in CATEGORIES for prompt in known_prompts(category)[:1]]
SAMPLING = Sampling(max_tokens=24)
SPECULATING = ["draft_server", pytest.param("ngram_server", marks=pytest.mark.slow)]


@asynccontextmanager
async def opened(server: Server) -> AsyncIterator[TimedServer]:
    timed = await open_timed_server(server.url)
    try:
        yield timed
    finally:
        await timed.close()


async def sample_all(server: TimedServer, prompts: Sequence[Prompt], at_once: int) -> list[Sample]:
    limit = asyncio.Semaphore(at_once)

    async def one(prompt: Prompt) -> Sample:
        async with limit:
            return await server.sample(prompt, SAMPLING)

    return await asyncio.gather(*map(one, prompts))


def added_up(samples: Sequence[Sample], k: int) -> SpecCounters:
    """The counters that the samples' own counts make; every entry is one chain of drafts."""
    accepted = [count for sample in samples for count in sample.per_step_accepted or ()]
    drafted = [count for sample in samples for count in sample.per_step_drafted or ()]
    per_pos = tuple(sum(count > position for count in accepted) for position in range(k))
    return SpecCounters(len(drafted), sum(drafted), sum(accepted), per_pos)


@pytest.mark.parametrize("fixture", SPECULATING)
@pytest.mark.parametrize("at_once", [pytest.param(1, marks=pytest.mark.slow), 16])
async def test_counts_of_the_requests_add_up_to_the_servers(
    request: pytest.FixtureRequest, fixture: str, at_once: int
) -> None:
    async with opened(request.getfixturevalue(fixture)) as server:
        before = await server.counters()
        samples = await sample_all(server, PROMPTS, at_once)
        after = await server.counters()
        assert before is not None and after is not None and server.k is not None
        assert added_up(samples, server.k) == after - before
        assert after.num_accepted_tokens > before.num_accepted_tokens
        assert {sample.fidelity for sample in samples} == {Fidelity.COUNTED}
        for sample in samples:
            assert sum(sample.chunk_tokens) == len(sample.token_ids) == sample.output_tokens
            assert list(sample.chunk_ms) == sorted(sample.chunk_ms)
            assert len(sample.chunk_ms) == len(sample.chunk_tokens)


@pytest.mark.parametrize(
    "fixture", [*SPECULATING, pytest.param("baseline_server", marks=pytest.mark.slow)]
)
async def test_samples_have_the_live_clients_tokens(
    request: pytest.FixtureRequest, fixture: str
) -> None:
    server: Server = request.getfixturevalue(fixture)
    live = await open_server(server.url, traced=False)
    async with opened(server) as timed:
        for prompt in PROMPTS[::4]:
            sample = await timed.sample(prompt, SAMPLING)
            trace = fold([event async for event in live.generate(prompt, SAMPLING)])
            assert sample.token_ids == trace.token_ids
            assert sample.text == trace.text
            assert sample.finish_reason == trace.finish_reason
            assert sample.prompt_tokens == len(trace.prompt_token_ids)
    await live.close()


@pytest.mark.slow
async def test_a_baseline_server_drafts_nothing_and_tells_its_cache(
    baseline_server: Server,
) -> None:
    async with opened(baseline_server) as server:
        sample = await server.sample(PROMPTS[0], SAMPLING)
        assert server.method is Method.BASELINE
        assert sample.fidelity is Fidelity.COUNTED
        assert sample.per_step_accepted == sample.per_step_drafted == ()
        assert await server.counters() is None
        assert await server.prefix_caching() is False


async def test_cancelling_makes_the_server_drop_the_request(draft_server: Server) -> None:
    long = Sampling(temperature=2.0, max_tokens=1500)
    async with opened(draft_server) as server:

        async def keeps_asking() -> None:
            while True:
                await server.sample(PROMPTS[0], long)

        tasks = [asyncio.create_task(keeps_asking()) for _ in range(32)]
        while not metric(draft_server, "num_requests_running"):
            await asyncio.sleep(0.05)
        finished = metric(draft_server, "request_success_total")
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        while metric(draft_server, "num_requests_running"):
            await asyncio.sleep(0.1)
        assert metric(draft_server, "num_requests_waiting") == 0
    assert metric(draft_server, "request_success_total") < finished + len(tasks)  # none ran on


def metric(server: Server, name: str) -> float:
    """A value of the server's metrics page, added up over its labels."""
    lines = httpx2.get(f"{server.url}/metrics", timeout=30.0).text.splitlines()
    found = [line for line in lines if line.startswith(f"vllm:{name}{{")]
    return sum(float(line.rsplit(" ", 1)[1]) for line in found)

"""A server that caches prefixes answers no benchmark request from its cache."""

from __future__ import annotations

from collections.abc import Callable

import httpx2
import pytest

from specviz.config import Sampling
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server
from specviz.servers.timing.timed_server import open_timed_server
from specviz.servers.vllm.dialect import LAUNCHER
from tests.support.demo_models import DEMO_TARGET, known_prompts

pytestmark = [pytest.mark.integration, pytest.mark.slow]

LONG = max(known_prompts("summarization"), key=lambda prompt: len(prompt.text))


def cache_hits(url: str) -> float:
    lines = httpx2.get(f"{url}/metrics", timeout=30.0).text.splitlines()
    hits = [line for line in lines if line.startswith("vllm:prefix_cache_hits_total{")]
    return sum(float(line.rsplit(" ", 1)[1]) for line in hits)


async def test_requests_are_salted_once_the_cache_is_known(
    start: Callable[[ServerSpec], Server],
) -> None:
    flags = ("--enable-prefix-caching", "--block-size", "32")
    server = start(ServerSpec(LAUNCHER, str(DEMO_TARGET), extra_args=flags))
    engine = await open_timed_server(server.url)
    try:
        first = await engine.sample(LONG, Sampling(max_tokens=4))
        await engine.sample(LONG, Sampling(max_tokens=4))
        cached = cache_hits(server.url)
        assert cached > 0, "the prompt must be long enough to be cached at all"
        assert await engine.prefix_caching() is True
        salted = [await engine.sample(LONG, Sampling(max_tokens=4)) for _ in range(3)]
        assert cache_hits(server.url) == cached
        assert {sample.token_ids for sample in salted} == {first.token_ids}
    finally:
        await engine.close()

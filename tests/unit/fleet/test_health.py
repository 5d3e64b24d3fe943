"""One server asked again and again: up, down since when, restarted, another one in its place."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from specviz.config import EngineKind
from specviz.fleet.health import IDENTIFY_EVERY_S, WatchedServer, unexpected
from specviz.methods import Method
from tests.support.servers.scripted_server import Script, serving


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def script() -> Script:
    handshake = {"tracing": True, "method": "ngram", "num_speculative_tokens": 4}
    return Script(handshake=handshake, counted=(10, 40, 20), running=3)


@pytest.fixture
def url(script: Script) -> Iterator[str]:
    with serving(script) as address:
        yield address


async def test_what_runs_there_and_what_it_accepts(url: str, script: Script, clock: Clock) -> None:
    watched = WatchedServer(url, clock)
    first = await watched.check()
    assert first.is_up and first.counts and first.acceptance is None
    assert first.load.running == 3 and first.found is not None
    assert (first.found.capabilities.method, first.found.capabilities.k) == (Method.NGRAM, 4)

    clock.now_s, script.counted = 5, (20, 80, 50)
    second = await watched.check()
    assert second.acceptance is not None
    assert second.acceptance.draft_acceptance_rate == 30 / 40
    await watched.close()


async def test_down_since_the_first_failed_check_until_it_answers_again(
    script: Script, clock: Clock
) -> None:
    with serving(script) as url:
        watched = WatchedServer(url, clock)
        assert (await watched.check()).is_up
    down, still = await watched.check(), await watched.check()
    assert down.down_since == still.down_since == down.checked_at < still.checked_at
    assert down.problem is not None and url in down.problem
    assert down.found is not None and down.found.model == "demo", "what it was stays known"
    assert down.acceptance is None and down.load.running is None

    script.version, script.counted, clock.now_s = "0.33.0", (1, 4, 1), 10
    with serving(script, urlsplit(url).port):
        again = await watched.check()
        await watched.close()
    assert again.is_up and again.problem is None and again.found is not None
    assert again.found.software == "vLLM 0.33.0", "another server may have taken its place"
    assert again.acceptance is not None and again.acceptance.draft_acceptance_rate == 1 / 4


async def test_a_server_that_does_not_answer_is_down_at_the_deadline(clock: Clock) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        watched = WatchedServer(f"http://127.0.0.1:{silent.getsockname()[1]}", clock)
        health = await watched.check(deadline_s=0.05)
    assert not health.is_up and "did not answer in 0.05 s" in (health.problem or "")
    assert health.found is None


async def test_it_is_identified_again_after_a_while_only(
    url: str, script: Script, clock: Clock
) -> None:
    watched = WatchedServer(url, clock)
    await watched.check()
    script.models = {"data": [{"id": "other"}]}
    clock.now_s = IDENTIFY_EVERY_S / 2
    between = await watched.check()
    clock.now_s = IDENTIFY_EVERY_S
    later = await watched.check()
    await watched.close()
    assert [one.found.model for one in (between, later) if one.found] == ["demo", "other"]


async def test_counters_that_cannot_be_are_no_counters(
    url: str, script: Script, clock: Clock
) -> None:
    script.counted = (1, 4, 9)
    watched = WatchedServer(url, clock)
    health = await watched.check()
    await watched.close()
    assert health.is_up and not health.counts and health.acceptance is None


async def test_another_kind_than_expected_is_said(url: str, clock: Clock) -> None:
    watched = WatchedServer(url, clock)
    health = await watched.check()
    await watched.close()
    assert unexpected(health, None) is None and unexpected(health, EngineKind.VLLM) is None
    said = unexpected(health, EngineKind.OPENAI)
    assert said is not None and said.startswith("vLLM answers here, not openai")

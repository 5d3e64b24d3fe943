"""The shipped heads on real vLLM servers: they load, and accept what the embedded engine does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
import torch

from specviz.config import EngineKind, Prompt, RunConfig
from specviz.engines.embedded.engine import EmbeddedEngine
from specviz.engines.embedded.opening import open_engine, tokenizer_in
from specviz.methods import Method
from specviz.prompts.shipped import CATEGORIES
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server
from specviz.servers.vllm.dialect import LAUNCHER
from tests.support.demo_models import DEMO_TARGET, MODELS, known_prompts

pytestmark = [pytest.mark.integration, pytest.mark.slow]

K = 5
TOKENS = 80
PROMPTS_PER_CATEGORY = 2
# Per step vLLM's head and ours accept equally many tokens, but for two candidates that bf16 cannot
# tell apart: products of another shape round differently. Seen: 2 steps in 100.
LEAST_EQUAL_STEPS = 0.95
RATE_TOLERANCE = 0.03

HEADS = [
    (Method.MEDUSA, "demo-medusa"),
    (Method.EAGLE, "demo-eagle"),
    (Method.EAGLE3, "demo-eagle3"),
    (Method.EAGLE3, "demo-eagle3-speculators"),
]

Servers = dict[str, Future[Server]]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the server next door has the cores
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def servers(start: Callable[[ServerSpec], Server]) -> Iterator[Servers]:
    """One server per head, by its folder; a start keeps one core busy, so two start at a time."""
    metrics = ("--per-request-spec-decode-metrics", "detailed")
    with ThreadPoolExecutor(2) as pool:
        starting: Servers = {}
        for method, folder in HEADS:
            draft = str(MODELS / folder)
            spec = ServerSpec(
                LAUNCHER, str(DEMO_TARGET), method, draft, K, trace=False, extra_args=metrics
            )
            starting[folder] = pool.submit(start, spec)
        yield starting
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize(("method", "folder"), HEADS)
def test_server_accepts_what_the_embedded_engine_does(
    method: Method, folder: str, servers: Servers
) -> None:
    """Step by step over the server's own answers."""
    options = {"dtype": "bfloat16", "shape": "chain"}
    draft = str(MODELS / folder)
    engine, _ = open_engine(RunConfig(EngineKind.EMBEDDED, method, K, draft=draft, options=options))
    server = servers[folder].result()
    steps = [step for prompt in prompts() for step in judged(server, prompt, engine)]
    server.stop()
    assert len(steps) > 50
    assert sum(served == ours for served, ours in steps) >= LEAST_EQUAL_STEPS * len(steps)
    served, ours = (sum(counts) / (K * len(steps)) for counts in zip(*steps, strict=True))
    assert served == pytest.approx(ours, abs=RATE_TOLERANCE)


def prompts() -> list[Prompt]:
    return [p for c in CATEGORIES for p in known_prompts(c)[:PROMPTS_PER_CATEGORY]]


def judged(server: Server, prompt: Prompt, engine: EmbeddedEngine) -> list[tuple[int, int]]:
    """Accepted tokens of every step of one answer, by the server and by our engine.

    What the server accepted beyond the end of the answer is left out on both sides.
    """
    prompt_ids = tokenizer_in(DEMO_TARGET).encode_chat(prompt.messages)
    answer, accepted = complete(server, prompt_ids)
    again = engine.redraft(prompt, answer)
    steps, at = [], 1
    for served in accepted:
        if at >= len(answer):
            break
        offered = min(K, len(answer) - at)
        steps.append((min(served, offered), min(again.matched[at - 1], offered)))
        at += served + 1
    return steps


def complete(server: Server, prompt: list[int]) -> tuple[list[int], list[int]]:
    """Answer ids, and the accepted tokens of every step as vLLM counts them."""
    request: dict[str, Any] = {
        "model": server.spec.model,
        "prompt": prompt,
        "max_tokens": TOKENS,
        "temperature": 0.0,
        "return_token_ids": True,
    }
    response = httpx2.post(f"{server.url}/v1/completions", json=request, timeout=120.0)
    response.raise_for_status()
    body = response.json()
    counts: list[int] = body["metrics"]["speculative_decoding"]["per_step_accepted"]
    ids: list[int] = body["choices"][0]["token_ids"]
    return ids, counts

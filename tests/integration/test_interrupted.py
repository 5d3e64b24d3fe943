"""A real server that dies in the middle of an answer."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from specviz.config import EngineKind, Run, RunConfig, RunStatus, Sampling
from specviz.live.record import answer
from specviz.methods import Method
from specviz.paths import DEMO_TARGET
from specviz.prompts.shipped import load_prompts
from specviz.servers.client.engine import open_server
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server
from specviz.servers.vllm.dialect import LAUNCHER
from specviz.store import open_store
from specviz.store.runs.runs import read_requests, read_trace
from specviz.trace import Event, Step

pytestmark = pytest.mark.integration

(STORY,) = (
    prompt
    for prompt in load_prompts("creative_writing")
    if prompt.prompt_id == "creative_writing-025"
)
"""Its greedy answer is the longest: over a hundred tokens, of which the first step is seen."""


@pytest.mark.slow
async def test_what_arrived_is_kept_and_the_error_is_one_sentence(
    start: Callable[[ServerSpec], Server], tmp_path: Path
) -> None:
    server = start(ServerSpec(LAUNCHER, str(DEMO_TARGET), Method.NGRAM, k=3))
    config = RunConfig(EngineKind.VLLM, Method.NGRAM, 3, Sampling(max_tokens=1500))
    run = Run("run", "run", config, RunStatus.RUNNING, datetime.now(UTC))
    seen: list[Step] = []

    def kill_at_once(event: Event) -> None:
        if isinstance(event, Step):
            seen.append(event)
        if len(seen) == 1:
            for process in psutil.Process(server.pid).children(recursive=True):
                process.kill()

    engine = await open_server(server.url, stall_timeout_s=20.0)
    with open_store(tmp_path / "runs.duckdb") as store:
        outcome = await answer(engine, run, STORY, store, kill_at_once)
        await engine.close()
        (request,) = store.read(read_requests, "run")
        stored = store.read(read_trace, request.request_id)
    assert outcome.status is RunStatus.PARTIAL
    assert outcome.error is not None and "kept" in outcome.error
    assert len(outcome.error.splitlines()) == 1
    assert len(stored.steps) == len(seen) >= 1

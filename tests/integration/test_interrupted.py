"""A real server, or one of its processes, is killed in the middle of an answer."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus, Sampling
from specviz.live.record import answer
from specviz.methods import Method
from specviz.servers.client.engine import open_server
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server
from specviz.servers.vllm.dialect import LAUNCHER
from specviz.store import open_store
from specviz.store.runs.runs import read_requests, read_trace
from specviz.trace import Event, Step
from tests.support.servers.endless_model import write_endless

pytestmark = pytest.mark.integration

SEED = 20261122
VICTIMS = {
    "whole server": lambda command: True,
    "engine": lambda command: "EngineCore" in command,
    "API server": lambda command: "api_server" in command,
}
"""By a process's command line."""


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    return write_endless(tmp_path / "endless")


@pytest.mark.slow
@pytest.mark.parametrize("victim", VICTIMS)
async def test_what_arrived_is_kept_and_the_error_is_one_sentence(
    start: Callable[[ServerSpec], Server], tmp_path: Path, endless: Path, victim: str
) -> None:
    server = start(ServerSpec(LAUNCHER, str(endless), Method.NGRAM, k=3))
    processes = psutil.Process(server.pid).children(recursive=True)
    hit = [one for one in processes if VICTIMS[victim](" ".join(one.cmdline()))]
    assert hit
    last = random.Random(f"{SEED} {victim}").randint(1, 20)
    config = RunConfig(EngineKind.VLLM, Method.NGRAM, 3, Sampling(max_tokens=3500))
    run = Run("run", "run", config, RunStatus.RUNNING, datetime.now(UTC))
    seen: list[Step] = []

    def kill_after_a_while(event: Event) -> None:
        if not isinstance(event, Step):
            return
        seen.append(event)
        if len(seen) == last:
            for process in hit:
                process.kill()

    engine = await open_server(server.url, stall_timeout_s=20.0)
    with open_store(tmp_path / "runs.duckdb") as store:
        outcome = await answer(engine, run, Prompt("Tell me a story."), store, kill_after_a_while)
        await engine.close()
        (request,) = store.read(read_requests, "run")
        stored = store.read(read_trace, request.request_id)
    assert outcome.status is RunStatus.PARTIAL
    assert outcome.error is not None and "kept" in outcome.error
    assert len(outcome.error.splitlines()) == 1
    assert len(stored.steps) == len(seen) >= last
    _, alive = psutil.wait_procs(processes, 30)
    assert not alive, "a process of the server outlived it"

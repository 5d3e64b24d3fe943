"""Which K, on real servers: what one run foretells, and that vLLM takes the schedule.

A minute or two of server starts each, so `make test-slow` runs them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from specviz import runtime
from specviz.bench.results import results_of
from specviz.config import EngineKind, RunConfig, RunStatus
from specviz.deploy.schedules.steps import Step
from specviz.deploy.schedules.vllm import flag
from specviz.methods import Method
from specviz.prompts.sets import PromptSource
from specviz.prompts.shipped import CATEGORIES
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server
from specviz.servers.vllm.dialect import LAUNCHER
from specviz.store.benchmarks.reads import read_benchmark
from specviz.sweep.evidence import evidence
from specviz.sweep.plan import sweep_plan
from specviz.sweep.redraft import redraft_arm
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET, KNOWN_PROMPTS

pytestmark = [pytest.mark.integration, pytest.mark.slow]

KS = (2, 5, 9)


@pytest.fixture
def current(tmp_path: Path) -> Iterator[runtime.Runtime]:
    with runtime.opened(tmp_path / "runs.duckdb") as opened:
        yield opened


def test_one_run_foretells_smaller_ks(current: runtime.Runtime, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text("".join(path.read_text() for path in sorted(KNOWN_PROMPTS.glob("*.jsonl"))))
    every = dict.fromkeys(CATEGORIES, 1.0)
    source = PromptSource(str(prompts), count=12, weights=every)
    plan = sweep_plan(RunConfig(EngineKind.VLLM, Method.DRAFT_MODEL), KS, [1], source)
    benchmark_id = current.benchmarks.start(plan)
    assert current.benchmarks.wait(benchmark_id, 400)
    store = current.store
    assert store.read(read_benchmark, benchmark_id).status is RunStatus.FINISHED
    results = results_of(store, benchmark_id)
    lengths = {
        cell.k: cell.acceptance.mean_acceptance_length for cell in results.cells if cell.acceptance
    }
    largest = next(arm.arm_index for arm in results.arms if arm.k == max(KS))
    redraft_arm(store, benchmark_id, largest, lambda *_: None, lambda: False)
    known = evidence(store, benchmark_id, {largest: max(KS)}, 0)
    assert known is not None
    redrafted, cut = (known.predictions(KS, redrafted=exact) for exact in (True, False))
    assert [found.k for found in redrafted] == [found.k for found in cut] == [*KS]
    for found in redrafted:
        assert found.mean_acceptance_length.value == pytest.approx(lengths[found.k], rel=0.02)
    for found in cut:  # off by where the next draft begins: what its interval says
        low, high = found.mean_acceptance_length.low, found.mean_acceptance_length.high
        assert low is not None and high is not None
        assert low <= lengths[found.k] <= high
        assert high < 1.4 * low


def test_vllm_takes_the_schedule(start: Callable[[ServerSpec], Server]) -> None:
    steps = (Step(1, 4, 5), Step(5, 8, 0))
    flags = tuple(shlex.split(flag(steps, Method.DRAFT_MODEL, str(DEMO_DRAFT))))
    server = start(
        ServerSpec(
            LAUNCHER,
            str(DEMO_TARGET),
            Method.DRAFT_MODEL,
            str(DEMO_DRAFT),
            5,
            trace=False,
            extra_args=flags,
        )
    )
    asked = {"model": str(DEMO_TARGET), "prompt": "Name three rivers.", "max_tokens": 24}
    answer = httpx2.post(f"{server.url}/v1/completions", json=asked, timeout=60)
    assert answer.json()["usage"]["completion_tokens"] > 0
    counted = httpx2.get(f"{server.url}/metrics").text
    assert 'num_accepted_tokens_per_pos_total{engine="0"' in counted
    assert 'position="4"' in counted  # K = 5 for one request at a time
    server.stop()

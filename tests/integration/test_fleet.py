"""A fleet of three real servers of two kinds: one is killed and comes back, and the check, the
benchmark and the command say so and go on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from specviz import runtime
from specviz.bench.plan.toml import parse_plan
from specviz.bench.results import results_of
from specviz.cli import main
from specviz.config import EngineKind, RunStatus
from specviz.fleet.named import add_named, as_typed
from specviz.methods import Method
from specviz.servers.kinds import default_spec
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server, free_port
from specviz.store.benchmarks.reads import read_benchmark

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]

PLAN = """
name = "Three boxes"
warmup = 1
max_tokens = 48
[prompts]
count = 24
[[arms]]
server = "box"
[[arms]]
server = "plain"
[[arms]]
server = "drafts"
"""

Start = Callable[[ServerSpec], Server]


def checked(db: Path) -> tuple[int, dict[str, Any]]:
    """The exit code of `specviz servers check --json`, and every server's health by name."""
    out = StringIO()
    with redirect_stdout(out), pytest.raises(SystemExit) as ended:
        main(["servers", "check", "--json", "--db", str(db)])
    servers = json.loads(out.getvalue())["servers"]
    return int(str(ended.value.code)), {one["name"]: one["health"] for one in servers}


def test_one_of_three_is_killed_and_comes_back(
    baseline_server: Server, start: Start, tmp_path: Path
) -> None:
    db = tmp_path / "runs.duckdb"
    plain = start(default_spec(Method.BASELINE, None, engine=EngineKind.LLAMA_CPP))
    drafting = default_spec(Method.DRAFT_MODEL, 4, engine=EngineKind.LLAMA_CPP)
    drafting = replace(drafting, port=free_port())
    drafts = start(drafting)
    urls = {"box": baseline_server.url, "plain": plain.url, "drafts": drafts.url}
    with runtime.opened(db) as current:
        for name, url in urls.items():
            add_named(current.store, as_typed(name, url))
        health = current.fleet.check(urls.values())
        kinds = [found.found.dialect.engine for found in health.values() if found.found]
        assert kinds == [EngineKind.VLLM, EngineKind.LLAMA_CPP, EngineKind.LLAMA_CPP]
        assert all(found.is_up for found in health.values())

        board = current.benchmarks
        benchmark_id = board.start(parse_plan(PLAN))
        while (progress := board.progress(benchmark_id)) and progress.arms[2].done < 3:
            assert not progress.phase.is_final, progress.error
            time.sleep(0.02)
        drafts.stop()
        assert board.wait(benchmark_id, 300)
        arms = results_of(current.store, benchmark_id).arms
        assert [arm.error is None for arm in arms] == [True, True, False]
        assert [arm.finished == arm.planned for arm in arms] == [True, True, False]
        down = current.fleet.check(urls.values())[drafts.url]
        assert down.down_since is not None
        assert drafts.url in (down.problem or "")

    code, named = checked(db)
    assert code == 1
    assert [named[name]["reachable"] for name in urls] == [True, True, False]

    start(drafting)
    code, named = checked(db)
    assert code == 0
    assert named["drafts"]["method"] == "draft_model"
    with runtime.opened(db) as current:
        current.benchmarks.resume(benchmark_id)
        assert current.benchmarks.wait(benchmark_id, 300)
        row = current.store.read(read_benchmark, benchmark_id)
        assert row.status is RunStatus.FINISHED, row.error
        assert all(arm.error is None for arm in results_of(current.store, benchmark_id).arms)

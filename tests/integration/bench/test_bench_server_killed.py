"""A real server that is killed in the middle of a benchmark: its arm is marked, the others go on,
and resuming finishes it."""

from __future__ import annotations

import time
from pathlib import Path

import psutil
import pytest

from specviz import runtime
from specviz.bench.plan.toml import parse_plan
from specviz.bench.results import results_of
from specviz.config import RunStatus
from specviz.store.benchmarks.reads import read_benchmark

pytestmark = pytest.mark.integration

PLAN = """
name = "One server dies"
concurrency = [1, 4]
warmup = 1
max_tokens = 48
[prompts]
count = 12
[[arms]]
engine = "llama.cpp"
method = "baseline"
[[arms]]
engine = "llama.cpp"
method = "ngram"
k = 3
[[arms]]
engine = "embedded"
method = "baseline"
"""


def command_of(process: psutil.Process) -> str:
    """Empty for one that has ended, as another test of this worker may have left it."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


def servers() -> list[psutil.Process]:
    """llama.cpp servers below this process."""
    found = psutil.Process().children(recursive=True)
    return [process for process in found if "llama_cpp.process" in command_of(process)]


def server_with(word: str) -> psutil.Process:
    return next(process for process in servers() if word in command_of(process))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_its_arm_is_marked_and_resuming_finishes_it(tmp_path: Path) -> None:
    with runtime.opened(tmp_path / "runs.duckdb") as current:
        board = current.benchmarks
        benchmark_id = board.start(parse_plan(PLAN))
        while (progress := board.progress(benchmark_id)) and progress.arms[1].done < 3:
            assert not progress.phase.is_final, progress.error
            time.sleep(0.05)
        server_with("ngram").kill()
        assert board.wait(benchmark_id, 300)
        row = current.store.read(read_benchmark, benchmark_id)
        arms = results_of(current.store, benchmark_id).arms
        assert row.status is RunStatus.PARTIAL
        assert "ngram" in (row.error or "")
        assert [arm.finished == arm.planned for arm in arms] == [True, False, True]
        assert [arm.error is None for arm in arms] == [True, False, True]
        assert not servers()

        board.resume(benchmark_id)
        assert board.wait(benchmark_id, 300)
        row = current.store.read(read_benchmark, benchmark_id)
        results = results_of(current.store, benchmark_id)
        assert row.status is RunStatus.FINISHED, row.error
        assert [arm.finished for arm in results.arms] == [24, 24, 24]
        assert all(arm.error is None for arm in results.arms)
        assert all(check.agrees for check in results.checks)
        assert {cell.requests for cell in results.cells} == {12}

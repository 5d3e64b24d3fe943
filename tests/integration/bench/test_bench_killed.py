"""A benchmark whose process is killed at random moments is completed by resuming it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from specviz.bench.plan.schedule import stages
from specviz.bench.plan.toml import parse_plan
from specviz.bench.results import results_of
from specviz.config import RunStatus
from specviz.paths import PROJECT_ROOT
from specviz.remote.benchmarks import RemoteBoard
from specviz.store import Store, open_store
from specviz.store.benchmarks.reads import read_benchmark, read_benchmarks
from specviz.store.secret import read_secret
from tests.support.apps.process import starter
from tests.support.store.samples import frame_of

pytestmark = pytest.mark.integration

PLAN = """
name = "Killed"
temperatures = [0.0, 0.7]
concurrency = [1, 3]
warmup = 1
repetitions = 2
max_tokens = {max_tokens}
[prompts]
count = {prompts}
[[arms]]
engine = "embedded"
method = "baseline"
[[arms]]
engine = "embedded"
method = "draft_model"
k = 4
"""


def plan_text(prompts: int, max_tokens: int) -> str:
    return PLAN.format(prompts=prompts, max_tokens=max_tokens)


def check_complete(store: Store, benchmark_id: str) -> None:
    """Every request of the plan is there, finished, once."""
    row = store.read(read_benchmark, benchmark_id)
    plan = parse_plan(row.plan_toml)
    assert plan.prompts.count is not None
    wanted = {
        (stage.round_id(benchmark_id, arm), prompt)
        for stage in stages(plan, row.servers_at_once)
        for arm in stage.arms
        for prompt in range(plan.prompts.count)
    }
    found = store.read(
        frame_of,
        "SELECT round_id, prompt_index, turn, status, output_tokens FROM samples "
        "JOIN requests USING (request_id) "
        "WHERE benchmark_id = ? AND status <> 'set aside'",
        [benchmark_id],
    )
    keys = list(zip(found["round_id"], found["prompt_index"], strict=True))
    assert row.status is RunStatus.FINISHED, row.error
    assert len(keys) == len(set(keys)) == len(wanted) == row.planned == row.finished
    assert set(keys) == wanted
    assert set(found["status"]) == {"finished"} and set(found["turn"]) == {0}
    results = results_of(store, benchmark_id)
    assert all(cell.requests == plan.prompts.count * plan.repetitions for cell in results.cells)


@pytest.mark.slow
def test_the_command_is_killed_and_resumed(tmp_path: Path) -> None:
    rng = random.Random(3)
    plan, db = tmp_path / "plan.toml", tmp_path / "runs.duckdb"
    plan.write_text(plan_text(prompts=6, max_tokens=32))
    arguments = [str(plan)]
    for _ in range(2):
        with command(*arguments, "--db", str(db)) as process:
            wait_for_samples(db, process)
            time.sleep(rng.uniform(0.0, 1.5))
        with open_store(db) as store:
            (row,) = store.read(read_benchmarks)
            assert row.status in (RunStatus.PARTIAL, RunStatus.FINISHED)
        arguments = ["--resume", row.benchmark_id]
    if row.status is not RunStatus.FINISHED:
        with command(*arguments, "--db", str(db)) as process:
            assert process.wait(400) == 0
    with open_store(db) as store:
        check_complete(store, row.benchmark_id)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_app_is_killed_twenty_times(tmp_path: Path) -> None:
    """A benchmark that finishes between two kills is followed by another, and all of them must be
    complete: then none has to be longer than twenty kills, and the last one ends soon."""
    rng = random.Random(20)
    plan = parse_plan(plan_text(prompts=6, max_tokens=32))
    db = tmp_path / "runs.duckdb"
    started: list[str] = []
    for kill in range(21):
        with app(db) as board:
            if started and not is_finished(board, started[-1]):
                board.resume(started[-1])
            elif kill < 20:
                started.append(board.start(plan))
            if kill < 20:
                time.sleep(rng.uniform(0.0, 2.0))
                continue
            while not is_finished(board, started[-1]):
                board.wait(started[-1], 1.0)
    with open_store(db) as store:
        for benchmark_id in started:
            check_complete(store, benchmark_id)


def is_finished(board: RemoteBoard, benchmark_id: str) -> bool:
    return board.document(benchmark_id)["status"] == RunStatus.FINISHED


@contextmanager
def command(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """`specviz bench`, killed with its children at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "specviz", "bench", *arguments],
        cwd=PROJECT_ROOT,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        kill(process)


@contextmanager
def app(db: Path) -> Iterator[RemoteBoard]:
    """The app on a store, killed at the end with everything in its session."""
    log = db.with_suffix(".log")
    started = starter().start(PROJECT_ROOT / "app.py", log, {"SPECVIZ_STORE": str(db)})
    try:
        started.wait_until_healthy(seconds=120)
        yield RemoteBoard(started.url, secret=read_secret(db))
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        assert started.wait(30) == -signal.SIGKILL


def kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for_samples(db: Path, process: subprocess.Popen[bytes]) -> None:
    """Until something was measured: the store's log grows with every commit."""
    log = db.with_name(f"{db.name}.wal")
    deadline = time.monotonic() + 60
    began = None
    while time.monotonic() < deadline and process.poll() is None:
        size = log.stat().st_size if log.exists() else 0
        began = size if began is None and size else began
        if began is not None and size > began + 20_000:
            return
        time.sleep(0.05)

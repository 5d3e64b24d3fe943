"""Another process burns the processor for half of a benchmark: real engine, real counters.

The verdict on a machine that is quiet again is checked with made-up counters in
`tests/unit/bench/test_repeats.py`, and here on a quiet machine (slow).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from specviz.analysis.benchmark.machine_use import use_between
from specviz.analysis.benchmark.results import Results
from specviz.bench import machine_watch
from specviz.bench.board import BenchBoard, arms_of_this_machine
from specviz.bench.machine_watch import read_machine
from specviz.bench.plan.toml import parse_plan
from specviz.bench.results import results_of
from specviz.config import RunStatus
from specviz.live.measuring_lock import MeasuringLock
from specviz.store import Store, open_store
from specviz.store.benchmarks.reads import read_benchmark
from tests.support.store.samples import frame_of

PLAN = """
warmup = 1
max_tokens = 12
[prompts]
count = {prompts}
[[arms]]
method = "baseline"
[[arms]]
method = "draft_model"
k = 4
"""
BURN = "import time; end = time.time() + 60\nwhile time.time() < end: pass"
ORPHAN = (
    "import subprocess, sys; "
    f"print(subprocess.Popen([sys.executable, '-c', {BURN!r}], stdout=subprocess.DEVNULL).pid)"
)
"""The burning process is nobody's child: the benchmark's own children are its own work."""


@contextmanager
def burning() -> Iterator[None]:
    """As many burning processes as there are cores."""
    pids = [
        int(subprocess.run([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE).stdout)
        for _ in range(len(os.sched_getaffinity(0)))
    ]
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):  # it ends by itself after a minute
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "runs.duckdb") as opened:
        yield opened


@pytest.fixture
def board(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[BenchBoard]:
    monkeypatch.setattr(machine_watch, "WINDOW_S", 0.3)  # the demo models answer fast
    opened = BenchBoard(store, MeasuringLock(), arms_of_this_machine)
    yield opened
    opened.close()


def measured(board: BenchBoard, store: Store, prompts: int, *, burn: bool) -> str:
    """A benchmark, with the processor burning until half of its requests are answered."""
    if not burn:
        benchmark_id = board.start(parse_plan(PLAN.format(prompts=prompts)))
    else:
        with burning():
            benchmark_id = board.start(parse_plan(PLAN.format(prompts=prompts)))
            while not board.wait(benchmark_id, 0.01):
                progress = board.progress(benchmark_id)
                if progress is not None and progress.done >= prompts:  # of two arms
                    break
    assert board.wait(benchmark_id, 120)
    row = store.read(read_benchmark, benchmark_id)
    assert (row.status, row.error) == (RunStatus.FINISHED, None)
    assert row.planned == row.finished == 2 * prompts
    return benchmark_id


def taken_now() -> float:
    """What others take of this machine while we only watch, 0 to 1."""
    before = read_machine({os.getpid()})
    time.sleep(1.0)
    return use_between(before, read_machine({os.getpid()})).taken_share


def verdict(results: Results) -> str:
    (cell,) = [cell for cell in results.cells if cell.arm_index == 1]
    assert cell.speedup is not None and cell.speedup.low is not None
    assert cell.speedup.high is not None
    if cell.speedup.low > 1:
        return "faster"
    return "slower" if cell.speedup.high < 1 else "undecided"


@pytest.mark.slow
def test_blocks_beside_a_burning_process_are_marked_repeated_and_reported(
    store: Store, board: BenchBoard
) -> None:
    prompts = 6
    benchmark_id = measured(board, store, prompts, burn=True)
    blocks = store.read(frame_of, "SELECT * FROM blocks")
    first = blocks[blocks["repeats"].isna()]
    repeats = blocks[blocks["repeats"].notna()]
    assert len(first) == 2 * prompts
    disturbed = first[first["is_disturbed"]]
    assert len(disturbed) >= prompts / 2
    assert 1 <= len(repeats) <= len(disturbed)
    shares = blocks["others_share"] + blocks["steal_share"]
    share_of = dict(zip(blocks["block"], shares, strict=True))
    used = store.read(
        frame_of,
        "SELECT DISTINCT block FROM samples JOIN requests USING (request_id) "
        "WHERE status = 'finished'",
    )["block"]
    for repeat in repeats.itertuples():
        (kept,) = {repeat.block, repeat.repeats} & {*used}
        assert share_of[kept] == min(share_of[repeat.block], share_of[repeat.repeats])
    results = results_of(store, benchmark_id)
    found = [cell.disturbance for cell in results.cells]
    assert sum(each.blocks for each in found if each) == 2 * prompts
    left = sum(each.disturbed for each in found if each)
    reported = f"{left} of {2 * prompts} blocks"
    assert (left > 0) == any(note.startswith(reported) for note in results.notes)


@pytest.mark.slow
def test_the_verdict_is_that_of_a_quiet_machine(store: Store, board: BenchBoard) -> None:
    if taken_now() > 0.05:
        pytest.skip("something else uses this machine now")
    quiet = results_of(store, measured(board, store, 24, burn=False))
    busy = results_of(store, measured(board, store, 24, burn=True))
    assert all(cell.disturbance and not cell.disturbance.disturbed for cell in busy.cells)
    assert sum(cell.disturbance.repeated for cell in busy.cells if cell.disturbance) >= 12
    assert verdict(busy) == verdict(quiet)


def test_the_work_of_our_own_children_is_not_somebody_elses() -> None:
    """A burning child moves our counter, before and after it has ended."""
    roots = {os.getpid()}
    before = read_machine(roots)
    child = subprocess.Popen(
        [sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass\ninput()"],
        stdin=subprocess.PIPE,
    )
    try:
        while sum(psutil.Process(child.pid).cpu_times()[:2]) < 0.29:
            time.sleep(0.01)
        running = read_machine(roots)
    finally:
        child.communicate(b"\n")
    ended = read_machine(roots)
    assert child.pid in running.pids and child.pid not in ended.pids
    assert running.own_s - before.own_s >= 0.28
    assert ended.own_s >= running.own_s - 0.02

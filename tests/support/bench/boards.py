"""Waiting for a benchmark, and what must be in the store when it is complete."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping

from specviz.bench.board import BenchBoard
from specviz.bench.progress import BenchPhase
from specviz.config import RunStatus
from specviz.methods import Method
from specviz.store import Store
from specviz.store.benchmarks.reads import read_benchmark
from tests.support.bench.samples import FakeEngine
from tests.support.store.samples import frame_of

Engines = Mapping[Method, FakeEngine | Exception]


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


def ended(board: BenchBoard, benchmark_id: str) -> BenchPhase:
    assert board.wait(benchmark_id, 120), "the benchmark did not end"
    progress = board.progress(benchmark_id)
    assert progress is not None and board.running() is None
    return progress.phase


def resumed(board: BenchBoard, benchmark_id: str) -> BenchPhase:
    board.resume(benchmark_id)
    return ended(board, benchmark_id)


def assert_complete(store: Store, benchmark_id: str, requests: int) -> None:
    row = store.read(read_benchmark, benchmark_id)
    assert (row.status, row.error) == (RunStatus.FINISHED, None)
    assert row.planned == row.finished == requests
    assert_no_request_twice(store, benchmark_id, requests)


def assert_no_request_twice(store: Store, benchmark_id: str, requests: int) -> None:
    stored = store.read(
        frame_of,
        "SELECT count(*) AS n, count(DISTINCT (round_id, prompt_index, turn)) AS different "
        "FROM samples JOIN requests USING (request_id) "
        "WHERE benchmark_id = ? AND status <> 'set aside'",
        [benchmark_id],
    )
    assert stored["n"][0] == stored["different"][0] == requests


def asked(engine: FakeEngine) -> Counter[str]:
    return Counter(prompt.text for prompt in engine.asked)

"""One benchmark over several boxes: arms on named servers, one of which dies and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest

from specviz.bench.board import BenchBoard, arms_of_this_machine
from specviz.bench.plan.toml import parse_plan
from specviz.bench.progress import BenchPhase
from specviz.errors import UsageError
from specviz.fleet.monitor import Monitor
from specviz.fleet.named import add_named, as_typed, find_named, replace_named
from specviz.live.measuring_lock import MeasuringLock
from specviz.store import Store
from specviz.store.benchmarks.reads import read_arms, read_benchmark
from tests.support.bench.boards import ended, resumed, until
from tests.support.servers.scripted_server import Script, chunk, serving, usage

PLAN = """
warmup = 0
[prompts]
count = 6
[[arms]]
server = "plain"
[[arms]]
server = "gpu-1"
"""


def answering(method: str, pause_s: float = 0.0) -> Script:
    handshake = {"tracing": False, "method": method, "num_speculative_tokens": 3}
    lines = [chunk("a", [1]), chunk("b", [2], finish="stop"), usage(2), "[DONE]"]
    return Script(lines=lines, handshake=handshake, pause_s=pause_s)


@pytest.fixture
def board(store: Store) -> Iterator[BenchBoard]:
    opened = BenchBoard(store, MeasuringLock(), arms_of_this_machine)
    yield opened
    opened.close()


@pytest.fixture
def boxes(store: Store) -> Iterator[tuple[ExitStack, ExitStack, dict[str, Script]]]:
    """The two servers, each with what ends it, and what they say."""
    scripts = {"plain": answering("ngram"), "gpu-1": answering("eagle3", pause_s=0.02)}
    with ExitStack() as plain, ExitStack() as gpu:
        for name, stack in (("plain", plain), ("gpu-1", gpu)):
            add_named(store, as_typed(name, stack.enter_context(serving(scripts[name]))))
        yield plain, gpu, scripts


def test_arms_are_measured_at_the_servers_that_they_name(
    store: Store, board: BenchBoard, boxes: object
) -> None:
    benchmark_id = board.start(parse_plan(PLAN))
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    arms = store.read(read_arms, benchmark_id)
    assert [arms[index].name for index in (0, 1)] == ["plain", "gpu-1"]
    assert [arms[index].method for index in (0, 1)] == ["ngram", "eagle3"]
    assert 'server = "gpu-1"' in store.read(read_benchmark, benchmark_id).plan_toml


def test_a_killed_server_ends_its_arm_and_resuming_finds_it_again_at_its_new_address(
    store: Store, board: BenchBoard, boxes: tuple[ExitStack, ExitStack, dict[str, Script]]
) -> None:
    _, gpu, scripts = boxes
    benchmark_id = board.start(parse_plan(PLAN))
    until(lambda: len(scripts["gpu-1"].requests) >= 2)
    gpu.close()
    assert ended(board, benchmark_id) is BenchPhase.PARTIAL
    progress = board.progress(benchmark_id)
    assert progress is not None
    plain, died = progress.arms
    assert plain.done == plain.planned and died.done < died.planned
    assert died.note and "gpu-1" in died.arm
    with closing(Monitor()) as monitor:
        assert not monitor.check([find_named(store, "gpu-1").url]).popitem()[1].is_up

    moved = gpu.enter_context(serving(scripts["gpu-1"]))
    before = find_named(store, "gpu-1")
    replace_named(store, "gpu-1", replace(before, url=moved))
    assert resumed(board, benchmark_id) is BenchPhase.FINISHED
    gpu.close()


def test_a_server_that_nobody_named_is_refused_before_anything_is_sent(
    store: Store, board: BenchBoard
) -> None:
    with pytest.raises(UsageError, match="There is no server plain: none is stored yet"):
        board.start(parse_plan(PLAN))

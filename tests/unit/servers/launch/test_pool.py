"""Which servers a pool keeps; starting is replaced, so no process runs."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specviz.errors import ServerStartFailed
from specviz.servers.launch import pool as pools
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.pool import MAX_SERVERS, ServerPhase, ServerPool
from specviz.servers.vllm.dialect import LAUNCHER


class FakeServer(SimpleNamespace):
    """Runs until it is stopped."""

    def is_alive(self) -> bool:
        return not self.stopped

    def stop(self) -> None:
        self.stopped = True

    def failure_reason(self) -> str | None:
        return "stopped" if self.stopped else None


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(spec: ServerSpec, **_: Any) -> FakeServer:
        return FakeServer(spec=spec, url="http://127.0.0.1:1", stopped=False, started_in_s=1.0)

    monkeypatch.setattr(pools, "start_server", start)


def spec(number: int) -> ServerSpec:
    return ServerSpec(LAUNCHER, f"model-{number}")


def running(pool: ServerPool) -> list[str]:
    return [slot.spec.model for slot in pool.slots() if slot.phase is ServerPhase.READY]


def start(pool: ServerPool, *numbers: int) -> None:
    for number in numbers:
        pool.ensure(spec(number), lambda text: None)


@pytest.mark.parametrize("count", range(1, MAX_SERVERS + 1))
def test_servers_that_fit_stay(count: int, tmp_path: Path) -> None:
    pool = ServerPool(tmp_path)
    start(pool, *range(count))
    assert len(running(pool)) == count


def test_one_too_many_ends_the_one_used_longest_ago(tmp_path: Path) -> None:
    pool = ServerPool(tmp_path)
    start(pool, *range(MAX_SERVERS), 0)  # the first is used again
    start(pool, MAX_SERVERS)
    assert sorted(running(pool)) == ["model-0", "model-2", "model-3", f"model-{MAX_SERVERS}"]


def test_a_stopped_server_says_so_once(tmp_path: Path) -> None:
    pool = ServerPool(tmp_path)
    start(pool, 0)
    pool.stop(spec(0))
    (slot,) = pool.slots()
    assert (slot.phase, slot.note) == (ServerPhase.STOPPED, "")  # the page shows both


def test_without_a_limit_all_stay(tmp_path: Path) -> None:
    pool = ServerPool(tmp_path, max_servers=None)
    start(pool, *range(2 * MAX_SERVERS))
    assert len(running(pool)) == 2 * MAX_SERVERS


def test_a_server_that_was_stopped_is_started_again(tmp_path: Path) -> None:
    pool = ServerPool(tmp_path)
    first = pool.ensure(spec(0), lambda text: None)
    first.stop()
    assert pool.ensure(spec(0), lambda text: None) is not first
    assert running(pool) == ["model-0"]


class Starting:
    """A `start_server` that loads until it is cancelled; `begun` says when it does."""

    def __init__(self) -> None:
        self.begun = threading.Event()

    def __call__(
        self, spec: ServerSpec, *, cancel: threading.Event, on_launch: Any, log_dir: Path, **_: Any
    ) -> FakeServer:
        on_launch(log_dir / "server.log")
        self.begun.set()
        assert cancel.wait(60)
        raise ServerStartFailed("Starting the server was cancelled.")


@pytest.mark.parametrize("ended_by", ["stop", "close"])
def test_a_server_is_stopped_while_it_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ended_by: str
) -> None:
    """Its log can be read from the first moment."""
    starting = Starting()
    monkeypatch.setattr(pools, "start_server", starting)
    pool = ServerPool(tmp_path)
    with ThreadPoolExecutor(1) as threads:
        started = threads.submit(start, pool, 0)
        assert starting.begun.wait(60)
        (slot,) = pool.slots()
        assert (slot.phase, slot.log) == (ServerPhase.STARTING, tmp_path / "server.log")
        pool.stop(spec(0)) if ended_by == "stop" else pool.close()
        with pytest.raises(ServerStartFailed):
            started.result(60)
    assert [(slot.phase, slot.note) for slot in pool.slots()] == [(ServerPhase.STOPPED, "")]


def test_a_server_is_on_the_list_while_another_makes_room_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pool = ServerPool(tmp_path, max_servers=1)
    start(pool, 0)
    seen: list[list[tuple[str, ServerPhase]]] = []
    monkeypatch.setattr(
        FakeServer,
        "stop",
        lambda self: seen.append([(slot.spec.model, slot.phase) for slot in pool.slots()]),
    )
    start(pool, 1)
    assert seen == [[("model-0", ServerPhase.READY), ("model-1", ServerPhase.STARTING)]]


def test_a_server_says_how_long_it_has_taken_and_promises_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def begin(spec: ServerSpec, *, on_progress: Any, **_: Any) -> FakeServer:
        on_progress("loading weights (12 s)")
        return FakeServer(spec=spec, stopped=False)

    monkeypatch.setattr(pools, "start_server", begin)
    said: list[str] = []
    ServerPool(tmp_path).ensure(spec(0), said.append)
    assert said == ["loading weights (12 s)"]

"""Redrafts in the background: one at a time, never during a measurement, each with its outcome."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from specviz.config import EngineKind, RunConfig
from specviz.engines.redraft import redraftable
from specviz.errors import UsageError
from specviz.live.measuring_lock import MeasuringLock
from specviz.methods import Method
from specviz.sweep import redraft_board as redrafts_module
from specviz.sweep.redraft import RedraftStopped
from specviz.sweep.redraft_board import RedraftBoard, RedraftProgress
from tests.support.bench.boards import until

STOPPED = "Stopped: nothing was kept."


class Gate:
    """A redraft of two answers that waits between them, and then ends as `outcome` says."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        self.outcome: Exception | None = None
        self.arms: list[tuple[str, int]] = []

    def __call__(
        self,
        store: Any,
        benchmark_id: str,
        arm_index: int,
        report: Callable[[int, int], None],
        stops: Callable[[], bool],
    ) -> None:
        self.arms.append((benchmark_id, arm_index))
        report(1, 2)
        self.reached.set()
        until(lambda: self.opened.is_set() or stops())
        if stops():
            raise RedraftStopped
        if self.outcome:
            raise self.outcome
        report(2, 2)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    made = Gate()
    monkeypatch.setattr(redrafts_module, "redraft_arm", made)
    return made


@pytest.fixture
def measuring_lock() -> MeasuringLock:
    return MeasuringLock()


@pytest.fixture
def board(gate: Gate, measuring_lock: MeasuringLock) -> Iterator[RedraftBoard]:
    made = RedraftBoard(None, measuring_lock)  # type: ignore[arg-type]  # the gate needs no store
    yield made
    made.close(5)


def test_one_redraft_at_a_time_and_its_progress(board: RedraftBoard, gate: Gate) -> None:
    assert board.progress("b", 1) is None
    board.start("b", 1)
    assert gate.reached.wait(60)
    assert board.progress("b", 1) == RedraftProgress(1, 2)
    with pytest.raises(UsageError, match="Another redraft is running"):
        board.start("b", 2)
    assert board.progress("b", 2) is None
    gate.opened.set()
    board.wait(60)
    assert board.progress("b", 1) == RedraftProgress(2, 2, ended=True)
    board.start("b", 2)
    board.wait(60)
    assert board.progress("b", 2) == RedraftProgress(2, 2, ended=True)
    assert gate.arms == [("b", 1), ("b", 2)]


def test_a_stopped_one_says_so_and_the_next_one_runs(board: RedraftBoard, gate: Gate) -> None:
    board.start("b", 1)
    assert gate.reached.wait(60)
    board.stop()
    board.wait(60)
    assert board.progress("b", 1) == RedraftProgress(1, 2, ended=True, error=STOPPED)
    gate.opened.set()
    board.start("b", 1)
    board.wait(60)
    assert board.progress("b", 1) == RedraftProgress(2, 2, ended=True)


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (UsageError("There is nothing to redraft."), "There is nothing to redraft."),
        (KeyError("defect"), "KeyError: 'defect'"),
    ],
)
def test_why_one_ended_is_shown(
    board: RedraftBoard, gate: Gate, outcome: Exception, said: str
) -> None:
    gate.outcome = outcome
    gate.opened.set()
    board.start("b", 1)
    board.wait(60)
    assert board.progress("b", 1) == RedraftProgress(1, 2, ended=True, error=said)


async def test_nothing_else_measures_meanwhile(
    board: RedraftBoard, gate: Gate, measuring_lock: MeasuringLock
) -> None:
    board.start("b", 1)
    assert await asyncio.to_thread(gate.reached.wait, 5)
    waited: list[bool] = []

    def on_wait() -> None:
        waited.append(gate.opened.is_set())
        gate.opened.set()

    async with measuring_lock.hold(on_wait):
        board.wait(60)
    assert waited[0] is False
    assert board.progress("b", 1) == RedraftProgress(2, 2, ended=True)


async def test_one_that_waits_its_turn_can_be_stopped(
    board: RedraftBoard, gate: Gate, measuring_lock: MeasuringLock
) -> None:
    async with measuring_lock.hold():
        board.start("b", 1)
        await asyncio.sleep(0.1)
        assert board.progress("b", 1) == RedraftProgress() and gate.arms == []
        board.stop()
        await asyncio.to_thread(board.wait, 60)
        assert board.progress("b", 1) == RedraftProgress(ended=True, error=STOPPED)
    assert gate.arms == []


def test_closing_ends_what_runs(board: RedraftBoard, gate: Gate) -> None:
    board.close()
    board.start("b", 1)
    assert gate.reached.wait(60)
    board.close(5)
    assert board.progress("b", 1) == RedraftProgress(1, 2, ended=True, error=STOPPED)


def config(method: Method | None, k: int | None = 3, **changes: Any) -> RunConfig:
    engine = changes.pop("engine", EngineKind.EMBEDDED)
    return RunConfig(engine, method, k, **{"options": {}, **changes})


@pytest.mark.parametrize(
    ("method", "changes", "said"),
    [
        (Method.SWIFT, {}, "swift cannot be redrafted"),
        (Method.SUFFIX, {}, "suffix cannot be redrafted"),
        (Method.MIRROR, {}, "mirror cannot be redrafted"),
        (Method.BASELINE, {"k": None}, "baseline cannot be redrafted"),
        (None, {"server_url": "http://127.0.0.1:1"}, "does not report its method"),
        (Method.EAGLE, {"options": {"shape": "tree"}}, "Trees cannot be redrafted"),
        (Method.MEDUSA, {}, "Trees cannot be redrafted"),
        (Method.MEDUSA, {"options": {"shape": "auto"}}, "Trees cannot be redrafted"),
        (
            Method.EAGLE,
            {"engine": EngineKind.VLLM, "server_url": "http://127.0.0.1:1"},
            "attached server's models are not on this machine",
        ),
        (Method.EAGLE, {"model": "meta-llama/Llama-3.1-8B"}, "Llama-3.1-8B is none"),
        (Method.EAGLE, {"model": ".", "draft": "no/such/draft"}, "no/such/draft is none"),
    ],
)
def test_what_cannot_be_redrafted_is_refused_with_the_reason(
    method: Method | None, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        redraftable(config(method, **changes))
    assert str(refused.value).endswith((".", "none."))


@pytest.mark.parametrize("method", [Method.DRAFT_MODEL, Method.NGRAM, Method.MEDUSA, Method.EAGLE3])
def test_a_servers_chain_is_drafted_again_by_the_embedded_engine(
    tmp_path: Path, method: Method
) -> None:
    arm = config(
        method, engine=EngineKind.VLLM, model=str(tmp_path), options={"vllm_flags": "--seed 1"}
    )
    again = redraftable(arm)
    assert (again.engine, again.method, again.k) == (EngineKind.EMBEDDED, method, 3)
    assert again.options == {"shape": "chain", "dtype": "bfloat16"}
    assert again.model == str(tmp_path)


def test_an_embedded_chain_keeps_its_options() -> None:
    options = {"shape": "chain", "dtype": "float32"}
    assert redraftable(config(Method.MEDUSA, options=options)).options == options
    assert redraftable(config(Method.LAYER_SKIP)).options == {}

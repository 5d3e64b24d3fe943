"""Boards of benchmarks over a real store, and plans for them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from specviz.bench.board import BenchBoard
from specviz.bench.plan.plan import Plan, PlanArm
from specviz.config import RunConfig
from specviz.live.measuring_lock import MeasuringLock
from specviz.opening import TimedArm
from specviz.prompts.sets import PromptSource
from specviz.store import Store, open_store
from tests.support.bench.boards import Engines
from tests.support.bench.plans import BASELINE
from tests.support.bench.quiet_machine import made_machine


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run on busy machines, where blocks would be measured twice."""
    made_machine(monkeypatch)


@pytest.fixture
def store(tmp_path: Path, empty_database: Path) -> Iterator[Store]:
    with open_store(shutil.copyfile(empty_database, tmp_path / "runs.duckdb")) as opened:
        yield opened


@pytest.fixture
def new_board(store: Store) -> Iterator[Callable[..., BenchBoard]]:
    boards = []

    def make(engines: Engines, into: Store = store) -> BenchBoard:
        @contextmanager
        def open_arms() -> Iterator[Any]:
            async def open_arm(config: RunConfig, note: Callable[[str], None]) -> TimedArm:
                note("loading")
                engine = engines[config.method]
                if isinstance(engine, Exception):
                    raise engine
                return engine.opened(config)

            yield open_arm

        boards.append(BenchBoard(into, MeasuringLock(), open_arms))
        return boards[-1]

    yield make
    for board in boards:
        board.close()


@pytest.fixture
def new_plan(tmp_path: Path) -> Callable[..., Plan]:
    """`prompts` conversations of `turns` turns, by default on the baseline."""

    def make(*arms: PlanArm, prompts: int = 6, turns: int = 1, **settings: Any) -> Plan:
        path = tmp_path / f"{prompts}x{turns}.jsonl"
        lines = [
            {"question_id": index, "turns": [f"prompt {index}.{turn}" for turn in range(turns)]}
            for index in range(prompts)
        ]
        path.write_text("\n".join(map(json.dumps, lines)))
        source = PromptSource(file=str(path), format="spec-bench")
        return Plan("Test", arms or (BASELINE,), source, **{"warmup": 0, **settings})

    return make

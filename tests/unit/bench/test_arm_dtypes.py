"""Arms that leave their dtype to the engine: which baseline they have, and in what they resume."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from specviz.bench.progress import BenchPhase
from specviz.bench.results import results_of
from specviz.config import RunConfig
from specviz.engines.embedded.options import COMPILED, LAID_OUT, dtype_of, engine_version
from specviz.methods import Method
from specviz.opening import TimedArm
from specviz.store import Store
from tests.support.bench.boards import ended, resumed, until
from tests.support.bench.plans import BASELINE, NGRAM, arm
from tests.support.bench.samples import FakeEngine


@dataclass
class EngineWithAuto(FakeEngine):
    """Opens as the embedded engine does on a machine where auto is `auto`."""

    auto: str = "float32"
    opened_in: list[str] = field(default_factory=list)

    def opened(self, config: RunConfig) -> TimedArm:
        dtype = config.options.get("dtype", self.auto)
        self.opened_in.append(dtype)
        version = engine_version("2.13", dtype, "cpu")
        return super().opened(replace(config, server_version=version))


def test_the_engines_version_holds_its_dtype() -> None:
    for products in (None, COMPILED, LAID_OUT):
        version = engine_version("2.13.0+cpu", "float32", "cpu", products)
        assert dtype_of(version) == "float32"
    for version in (None, "vLLM 0.32.0", "torch 2.13.0"):
        assert dtype_of(version) is None


@pytest.mark.parametrize(("auto", "baseline"), [("float32", 0), ("bfloat16", None)])
def test_an_arm_is_compared_with_the_baseline_of_its_own_dtype(
    store: Store, new_board, new_plan, auto: str, baseline: int | None
) -> None:
    engines = {method: EngineWithAuto(auto=auto) for method in (Method.BASELINE, Method.NGRAM)}
    named = arm(Method.NGRAM, 3, options={"dtype": "float32"})
    board = new_board(engines)
    benchmark_id = board.start(new_plan(BASELINE, NGRAM, named, prompts=2))
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    assert [one.baseline for one in results_of(store, benchmark_id).arms] == [0, 0, baseline]


def test_a_resumed_arm_keeps_the_dtype_it_began_in(store: Store, new_board, new_plan) -> None:
    engine = EngineWithAuto(seconds=0.02, auto="bfloat16")
    board = new_board({Method.BASELINE: engine})
    benchmark_id = board.start(new_plan(BASELINE, prompts=40))
    until(lambda: len(engine.asked) > 2)
    board.cancel(benchmark_id)
    assert ended(board, benchmark_id) is BenchPhase.CANCELLED
    later = EngineWithAuto(auto="float32")
    assert resumed(new_board({Method.BASELINE: later}), benchmark_id) is BenchPhase.FINISHED
    assert engine.opened_in == later.opened_in == ["bfloat16"]

"""A small real benchmark of the embedded demo family, for the tests of its redraft."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from specviz.bench.board import BenchBoard
from specviz.bench.plan.plan import Plan
from specviz.bench.progress import BenchPhase
from specviz.config import RunConfig
from specviz.live.measuring_lock import MeasuringLock
from specviz.methods import Method
from specviz.opening import TimedArm, open_timed_arm
from specviz.prompts.sets import PromptSource
from specviz.store import Store
from specviz.store.benchmarks.reads import read_benchmark
from tests.support.bench.boards import ended
from tests.support.bench.plans import BASELINE, arm

PLAIN, LARGEST, SMALL, LOOKUP, UNSAID, NOVEL = range(6)
"""Arms: plain decoding, a draft model at K = 3 and 1, n-grams, a K nobody named, suffixes."""
ARMS = (
    BASELINE,
    arm(Method.DRAFT_MODEL, 3),
    arm(Method.DRAFT_MODEL, 1),
    arm(Method.NGRAM, 3),
    arm(Method.EAGLE3),
    arm(Method.SUFFIX, 3),
)
TURNS = (
    ["Write the numbers 1 2 3 1 2 3 1 2 3 as JSON.", "Again: 1 2 3 1 2 3."],
    ["Translate to French: the cat sits on the mat."],
)


def measured(store: Store, folder: Path) -> str:
    """Three requests of each arm, 20 tokens each."""
    path = folder / "prompts.jsonl"
    lines = [{"question_id": index, "turns": turns} for index, turns in enumerate(TURNS)]
    path.write_text("\n".join(map(json.dumps, lines)))
    source = PromptSource(file=str(path), format="spec-bench")
    board = BenchBoard(store, MeasuringLock(), _arms)
    benchmark_id = board.start(Plan("Small", ARMS, source, warmup=1, max_tokens=20))
    assert ended(board, benchmark_id) is BenchPhase.FINISHED, store.read(
        read_benchmark, benchmark_id
    ).error
    return benchmark_id


@contextmanager
def _arms() -> Iterator[Any]:
    async def open_arm(config: RunConfig, note: Any) -> TimedArm:
        return await open_timed_arm(config, None, note)  # type: ignore[arg-type]  # no server

    yield open_arm

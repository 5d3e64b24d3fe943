"""The real app, except that a benchmark's arms are clocks that answer with made-up samples.

While there is a file `slow` next to the store, the figures of a benchmark take seconds, as those of
a large store do on a busy machine.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import random
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st

from specviz import runtime
from specviz.analysis.benchmark.machine_use import Reading
from specviz.bench import machine_watch
from specviz.bench.runner import Note, OpenTimedArm
from specviz.config import EngineKind, Prompt, RunConfig, Sampling
from specviz.methods import Method
from specviz.opening import TimedArm
from specviz.paths import PROJECT_ROOT
from specviz.sample import Sample
from specviz.servers.launch.usage import Usage
from specviz.servers.metrics import SpecCounters
from specviz.store import Store
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.trace import Fidelity
from specviz.views.shared.benchmark.results import Opened, open_results
from specviz.web import ingest, watch

STEP_MS = 0.8
ALPHA = {
    Method.BASELINE: 0.0,
    Method.NGRAM: 0.35,
    Method.DRAFT_MODEL: 0.7,
    Method.EAGLE3: 0.78,
}
DRAFT_COST, LOAD_COST = 0.09, 0.012
"""Of a step: per draft token, and per draft token and other request under way."""


class Clock:
    """Steps take the longer, the more is drafted and the more requests are under way."""

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._under_way = 0
        self._drafts = self._drafted = self._accepted = 0

    async def sample(self, prompt: Prompt, sampling: Sampling) -> Sample:
        rng = random.Random(f"{prompt.text}{sampling.temperature}{self._config.title}")
        k = self._config.k or 0
        alpha = ALPHA.get(self._config.method, 0.6) * (1 - 0.3 * sampling.temperature)
        length = min(24 + len(prompt.text) % 40, sampling.max_tokens)
        accepted = []
        while sum(accepted) + len(accepted) < length:
            run = next((n for n in range(k) if rng.random() > alpha), k)
            accepted.append(min(run, length - sum(accepted) - len(accepted) - 1))
        self._under_way += 1
        step_ms = STEP_MS * (
            1 + DRAFT_COST * k + (0.02 + LOAD_COST * k) * self._under_way + 0.1 * rng.random()
        )
        await asyncio.sleep(step_ms * len(accepted) / 1000)
        self._under_way -= 1
        drafting = bool(k)
        self._drafts += len(accepted) * drafting
        self._drafted += len(accepted) * k
        self._accepted += sum(accepted)
        chunk_ms = tuple(step_ms * (place + 1) for place in range(len(accepted)))
        return Sample(
            request_id=uuid.uuid4().hex,
            fidelity=Fidelity.COUNTED,
            text="<b>answer</b> " * 3,
            finish_reason="stop",
            ttft_ms=chunk_ms[0],
            e2el_ms=chunk_ms[-1],
            chunk_ms=chunk_ms,
            chunk_tokens=tuple(one + 1 for one in accepted),
            token_ids=tuple(range(length)),
            output_tokens=length,
            prompt_tokens=8,
            per_step_accepted=tuple(accepted) if drafting else (),
            per_step_drafted=(k,) * len(accepted) if drafting else (),
        )

    async def counters(self) -> SpecCounters | None:
        if self._config.engine is EngineKind.EMBEDDED:
            return None
        return SpecCounters(self._drafts, self._drafted, self._accepted, ())

    async def prefix_caching(self) -> bool | None:
        return False

    async def close(self) -> None:
        return None


async def open_arm(config: RunConfig, note: Note) -> TimedArm:
    note("loading the models")
    await asyncio.sleep(0.3)
    complete = replace(config, model=config.model or "demo-target")
    clock = Clock(complete)
    usage = Usage((config.k or 0) * 700_000 + 1, "held beyond plain decoding")
    return TimedArm(clock, complete, None, clock.counters, lambda: usage)


@contextmanager
def clocks() -> Iterator[OpenTimedArm]:
    yield open_arm


SLOW_S = 3.0


def open_slowly(store: Store, row: BenchmarkRow) -> Opened:
    if Path(os.environ["SPECVIZ_STORE"]).with_name("slow").exists():
        time.sleep(SLOW_S)
    return open_results(store, row)


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    # The browser would be somebody else who uses the machine, and blocks would be measured twice.
    machine_watch.read_machine = lambda roots: Reading(time.monotonic(), 1, 0.0, 0.0)
    with runtime.opened(timed_arms=clocks):
        view = importlib.import_module("specviz.views.benchmark.view")
        view.open_results = open_slowly
        yield {}


app = st.App(
    str(PROJECT_ROOT / "specviz" / "views" / "navigation.py"),
    routes=[*watch.routes, *ingest.routes],
    lifespan=lifespan,
)

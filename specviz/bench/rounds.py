"""A round under way: its row in the store, the server's counters around it, what it uses."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from statistics import fmean

from specviz.bench.arm import BenchArm
from specviz.bench.block import Answered, Talk
from specviz.bench.load.traffic import Traffic
from specviz.bench.plan.plan import Plan
from specviz.bench.plan.schedule import Stage
from specviz.bench.repeats import MeasuredBlock
from specviz.config import Run, RunConfig, RunStatus, Sampling
from specviz.errors import EngineError
from specviz.servers.launch.usage import Usage
from specviz.servers.metrics import SpecCounters
from specviz.store import BenchmarkLog, RoundRow

WATCH_S = 0.5
COUNTERS_SETTLE_S = 0.1
"""A server counts a step shortly after it has streamed it."""


class RoundUnderWay:
    """One arm's pass over the prompts. `whole` becomes False when something is missing or was
    asked by an earlier process (not `is_fresh`): the server's counters then cover less than the
    round's requests."""

    def __init__(
        self,
        benchmark_id: str,
        stage: Stage,
        arm: BenchArm,
        talks: Sequence[Talk],
        *,
        is_fresh: bool,
    ) -> None:
        self.stage = stage
        self.arm = arm
        self.talks = tuple(talks)
        self.round_id = stage.round_id(benchmark_id, arm.index)
        self.run_id = stage.run_id(benchmark_id, arm.index)
        self.block = ""
        self.whole = is_fresh
        self._benchmark_id = benchmark_id
        self._before: SpecCounters | None = None
        self._usages: list[Usage] = []

    def next_block(self) -> None:
        """An interrupted block goes on as a new one with its own wall time."""
        self.block = uuid.uuid4().hex

    def measured(
        self,
        talks: Sequence[Talk],
        answers: Sequence[Answered],
        wall_s: float,
        phase_ms: tuple[float, ...] | None,
    ) -> MeasuredBlock:
        """The block that has just ended."""
        return MeasuredBlock(
            self.block,
            self.stage,
            self.arm.index,
            self.run_id,
            self.round_id,
            self.arm.watched,
            wall_s,
            tuple(talks),
            tuple(answers),
            phase_ms=phase_ms,
        )

    async def begin(self, log: BenchmarkLog, plan: Plan) -> None:
        """Save that the round begins. Raises StoreError."""
        await asyncio.to_thread(log.begin_round, self._run(plan), self._row())
        self._before = await self._counters()

    async def end(self, log: BenchmarkLog) -> None:
        """Save the round's counters and usage. Raises StoreError."""
        await asyncio.sleep(COUNTERS_SETTLE_S)
        after = await self._counters()
        row = self._row()
        if self.whole and self._before is not None and after is not None:
            counted = after - self._before
            if not counted.went_back:
                row = replace(
                    row,
                    server_drafts=counted.num_drafts,
                    server_draft_tokens=counted.num_draft_tokens,
                    server_accepted_tokens=counted.num_accepted_tokens,
                )
        await asyncio.to_thread(log.end_round, replace(row, complete=self.whole))

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Sample the arm's memory and GPU use while a block runs, and once at its end."""
        watch = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watch.cancel()
            self._look()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_S)
            self._look()

    def _look(self) -> None:
        usage = self.arm.opened.usage()
        if usage is not None:
            self._usages.append(usage)

    async def _counters(self) -> SpecCounters | None:
        try:
            return await self.arm.opened.counters()
        except EngineError:
            self.whole = False  # the server is gone; its arm reports why
            return None

    def _row(self) -> RoundRow:
        most = max(self._usages, key=lambda usage: usage.memory_bytes, default=None)
        busy = [u.gpu_utilization for u in self._usages if u.gpu_utilization is not None]
        return RoundRow(
            round_id=self.round_id,
            run_id=self.run_id,
            arm_index=self.arm.index,
            server_group=self.stage.group,
            repetition=self.stage.repetition,
            memory_bytes=most.memory_bytes if most else None,
            memory_source=most.source if most else None,
            gpu_utilization=fmean(busy) if busy else None,
        )

    def _run(self, plan: Plan) -> Run:
        load = self.stage.load
        config: RunConfig = replace(
            self.arm.config,
            sampling=Sampling(self.stage.temperature, 1.0, plan.max_tokens, plan.seed),
            concurrency=load.concurrency or 0,
            request_rate=load.request_rate,
            traffic=load.name if isinstance(load, Traffic) else None,
            prompt_set=plan.prompts.file or "shipped prompts",
        )
        return Run(
            self.run_id, self._benchmark_id, config, RunStatus.RUNNING, started_at=datetime.now(UTC)
        )

"""Disturbed blocks, measured once more at the end.

What is repeated follows from what else used the machine, never from the times themselves, so that
repeating makes no arm look faster than it is. Of the two measurements the less disturbed one is in
the figures.
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from specviz.analysis.benchmark.machine_use import MachineUse
from specviz.analysis.text import percent
from specviz.bench.arm import BenchArm
from specviz.bench.block import Answered, Block, Talk
from specviz.bench.control import Control
from specviz.bench.machine_watch import MachineWatch
from specviz.bench.plan.plan import Plan
from specviz.bench.plan.schedule import Stage
from specviz.bench.tally import Tally
from specviz.live.measuring_lock import MeasuringLock
from specviz.store import BenchmarkLog, BlockRow, SampleRow

STILL_BUSY = 3
"""After so many disturbed windows of repeats in a row the machine is busy for good."""

WarmUp = Callable[[Stage, BenchArm], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class DisturbedBlock:
    """A block to measure again: what is asked, and what others took of the machine before."""

    block: str
    stage: Stage
    arm: int
    run_id: str
    round_id: str
    talks: tuple[Talk, ...]
    taken_share: float


@dataclass(frozen=True, slots=True)
class MeasuredBlock:
    """A block that has ended. `repeats`: the disturbed one whose requests it sent again."""

    block: str
    stage: Stage
    arm: int
    run_id: str
    round_id: str
    watched: str
    wall_s: float
    talks: tuple[Talk, ...]
    answers: tuple[Answered, ...]
    repeats: DisturbedBlock | None = None
    phase_ms: tuple[float, ...] | None = None

    def row(self, use: MachineUse | None) -> BlockRow:
        row = BlockRow(
            self.block,
            self.run_id,
            self.round_id,
            self.watched,
            self.wall_s,
            repeats=None if self.repeats is None else self.repeats.block,
            phase_ms=self.phase_ms,
        )
        if use is None:
            return row
        return replace(
            row,
            others_share=use.others_share,
            steal_share=use.steal_share,
            throttled_share=use.throttled_share,
            gpu_others_share=use.gpu_others_share,
            is_disturbed=use.is_disturbed,
        )

    def disturbed(self, use: MachineUse) -> DisturbedBlock:
        """The block as it is to be measured again: what was answered."""
        answered = Counter(one.prompt_index for one in self.answers if one.sample is not None)
        talks = tuple(
            shortened(talk, len(talk.answers) + answered[talk.prompt_index])
            for talk in self.talks
            if answered[talk.prompt_index]
        )
        return DisturbedBlock(
            self.block, self.stage, self.arm, self.run_id, self.round_id, talks, use.taken_share
        )


def shortened(talk: Talk, turns: int) -> Talk:
    """The same conversation up to a turn."""
    kept = replace(talk.conversation, turns=talk.conversation.turns[:turns])
    return replace(talk, conversation=kept)


def sample_row(run_id: str, round_id: str, block: str, answered: Answered) -> SampleRow:
    """One request as the store keeps it."""
    return SampleRow(
        run_id=run_id,
        round_id=round_id,
        prompt_index=answered.prompt_index,
        turn=answered.turn,
        prompt=answered.prompt,
        started_at=answered.started_at,
        block=block,
        sent_ms=answered.sent_ms,
        queue_ms=answered.queue_ms,
        sample=answered.sample,
        error=str(answered.error) if answered.error else None,
        phase=None if answered.place is None else answered.place.phase,
        temperature=None if answered.place is None else answered.place.temperature,
    )


@dataclass(slots=True)
class Repeats:
    """The disturbed blocks of a benchmark, and their second measurement."""

    plan: Plan
    log: BenchmarkLog
    tally: Tally
    control: Control
    measuring_lock: MeasuringLock
    watch: MachineWatch[MeasuredBlock]
    disturbed: list[DisturbedBlock] = field(default_factory=list)
    _busy_windows: int = 0

    def seen(self, found: Sequence[tuple[MeasuredBlock, MachineUse | None]]) -> None:
        """Store what else used the machine during blocks; disturbed ones wait for a repeat."""
        for measured, use in found:
            self.log.block(measured.row(use))
            if use is not None and use.is_disturbed:
                self.disturbed.append(measured.disturbed(use))

    def left(self, group: int) -> set[int]:
        """The arms with disturbed blocks in a group of servers."""
        return {block.arm for block in self.disturbed if block.stage.group == group}

    async def run(self, group: int, arms: Mapping[int, BenchArm], warm_up: WarmUp) -> None:
        """Measure the group's disturbed blocks again, each once, within the time budget.

        Stops early where the machine stays busy. A repeat with a failed request is dropped, and its
        arm is not asked again: its server may be gone.
        """
        due = [block for block in self.disturbed if block.stage.group == group]
        self._busy_windows = 0
        failing: set[int] = set()
        for number, block in enumerate(due):
            arm = arms.get(block.arm)
            if arm is None or arm.tally.error is not None or block.arm in failing:
                continue
            while await self._may_go_on():
                await warm_up(block.stage, arm)
                self.tally.doing = f"measuring disturbed blocks again, {number + 1} of {len(due)}"
                measured = await self._measure(block, arm)
                if measured is not None:
                    await self._decide(self.watch.end(measured))
                elif not self.control.is_paused:
                    failing.add(block.arm)
                if measured is not None or not self.control.is_paused:
                    break
        await self._decide(await self.watch.settle())

    async def _may_go_on(self) -> bool:
        if self.control.is_paused:
            await self._decide(await self.watch.settle())
        await self.control.until_unpaused(self.tally)
        budget = self.plan.time_budget_s
        in_time = budget is None or self.tally.elapsed_s <= budget
        is_quiet = self._busy_windows < STILL_BUSY
        return self.control.stop_reason is None and in_time and is_quiet

    async def _measure(self, block: DisturbedBlock, arm: BenchArm) -> MeasuredBlock | None:
        """The same requests again; None if not all were answered."""
        answers: list[Answered] = []
        load = block.stage.load
        again = Block(
            block.talks, arm.engine.sample, answers.append, partial(self.control.may_send, load)
        )
        await self.measuring_lock.let_others_go()
        async with self.measuring_lock.hold():
            self.watch.begin()
            began = time.monotonic()
            await again.run(load, random.Random(f"{self.plan.seed}/{block.stage.repetition}/0"))
        if again.rest or any(one.sample is None for one in answers):
            return None
        return MeasuredBlock(
            uuid.uuid4().hex,
            block.stage,
            block.arm,
            block.run_id,
            block.round_id,
            arm.watched,
            time.monotonic() - began,
            block.talks,
            tuple(answers),
            block,
            again.phase_ms,
        )

    async def _decide(self, found: Sequence[tuple[MeasuredBlock, MachineUse | None]]) -> None:
        """Store repeats; each replaces its first measurement if it was disturbed less."""
        for measured, use in found:
            first = measured.repeats
            assert first is not None
            is_better = use is not None and use.taken_share < first.taken_share
            others = percent(first.taken_share)
            reason = f"Others took {others} of the machine: measured again."
            rows = [
                sample_row(measured.run_id, measured.round_id, measured.block, answered)
                for answered in measured.answers
            ]
            if not is_better:
                kept = "The machine was no quieter than at first: the first measurement counts."
                rows = [replace(row, set_aside=kept) for row in rows]
            await asyncio.to_thread(
                self.log.repeat, measured.row(use), rows, sets_aside=reason if is_better else None
            )
            self.disturbed.remove(first)
        if found:
            use = found[0][1]
            is_busy = use is not None and use.is_disturbed
            self._busy_windows = self._busy_windows + 1 if is_busy else 0

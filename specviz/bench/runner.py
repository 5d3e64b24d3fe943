"""One benchmark from its first server to its last request.

    group of arms → servers up → stage → warm-up → blocks, arm after arm → counters of the round

Every finished request is stored at once; a `Bench` over the same store sends only the requests
that are missing.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial

from specviz.analysis.benchmark.disturbance import NOT_WATCHED
from specviz.analysis.text import counted
from specviz.bench.arm import BenchArm, arm_row, as_opened, open_arm
from specviz.bench.block import Answered, Block
from specviz.bench.control import Control
from specviz.bench.load.load import Load
from specviz.bench.load.traffic import Traffic
from specviz.bench.machine_watch import MachineWatch
from specviz.bench.plan.plan import Plan
from specviz.bench.plan.schedule import Stage, blocks, turns_of_arms
from specviz.bench.progress import BenchPhase
from specviz.bench.repeats import Repeats, sample_row
from specviz.bench.requests_left import RequestsLeft
from specviz.bench.rounds import RoundUnderWay
from specviz.bench.tally import Tally
from specviz.config import RunConfig, RunStatus
from specviz.errors import RequestRefused, SpecvizError
from specviz.live.measuring_lock import MeasuringLock
from specviz.opening import TimedArm
from specviz.store import ArmRow, BenchmarkLog

Note = Callable[[str], None]
OpenTimedArm = Callable[[RunConfig, Note], Awaitable[TimedArm]]

FAILURES_IN_A_ROW = 5
"""After this many an arm is given up."""


@dataclass(slots=True)
class Bench:
    """The requests that are left, the place their samples go to, and what answers them.

    `opened`: the arms that earlier processes opened, by index.
    """

    left: RequestsLeft
    log: BenchmarkLog
    tally: Tally
    control: Control
    measuring_lock: MeasuringLock
    opened: Mapping[int, ArmRow] = field(default_factory=dict)
    refused: int = 0
    repeats: Repeats = field(init=False)

    @property
    def benchmark_id(self) -> str:
        return self.left.benchmark_id

    @property
    def plan(self) -> Plan:
        return self.left.plan

    def __post_init__(self) -> None:
        self.repeats = Repeats(
            self.plan, self.log, self.tally, self.control, self.measuring_lock, MachineWatch()
        )

    async def run(self, open_arm: OpenTimedArm) -> None:
        """Measure what is missing. Raises CancelledError when cancelled."""
        self.tally.plan(self.left.by_load())
        by_group = defaultdict(list)
        for stage in self.left.stages:
            by_group[stage.group].append(stage)
        for group in by_group.values():
            if self.control.stop_reason is None:
                await self._group(group, open_arm)

    async def _group(self, group: Sequence[Stage], open_arm: OpenTimedArm) -> None:
        number = group[0].group
        missing = {arm for stage in group for arm in stage.arms if self.left.talks(stage, arm)}
        wanted = sorted(missing | self.repeats.left(number))
        async with AsyncExitStack() as opened:
            self.tally.phase = BenchPhase.STARTING
            found = await asyncio.gather(*(self._open(arm, open_arm, opened) for arm in wanted))
            arms = {arm.index: arm for arm in found if arm is not None}
            self.tally.phase = BenchPhase.RUNNING
            watch = self.repeats.watch
            watch.roots |= {arm.server_pid for arm in arms.values() if arm.server_pid is not None}
            watch.is_blind = any(arm.watched == NOT_WATCHED for arm in arms.values())
            for stage in group:
                await self._stage(stage, arms)
            self.repeats.seen(await watch.settle())
            await self.repeats.run(number, arms, self._warm_up)
            for arm in arms.values():
                if arm.tally.error is None:
                    asked = arm.tally.done + arm.tally.failed
                    arm.tally.phase = "finished" if asked >= arm.tally.planned else "waiting"

    async def _open(
        self, index: int, open_timed: OpenTimedArm, opened: AsyncExitStack
    ) -> BenchArm | None:
        config = as_opened(self.plan.arms[index].config, self.opened.get(index))
        tally = self.tally.arms[index]
        tally.phase = "starting"

        def note(text: str) -> None:
            tally.note = text

        try:
            arm = await open_arm(index, config, tally, open_timed, note)
        except SpecvizError as error:
            self._mark_failed(index, str(error))
            row = self.opened.get(index) or arm_row(index, tally.name, config)
            self.log.arm(replace(row, error=str(error)))
            return None
        opened.push_async_callback(arm.close)
        tally.phase, tally.note = "waiting", None
        self.log.arm(arm.row())
        return arm

    async def _stage(self, stage: Stage, arms: dict[int, BenchArm]) -> None:
        """All arms over the prompts that are missing, block by block."""
        rounds = {
            index: self._round(stage, arms[index])
            for index in stage.arms
            if index in arms and arms[index].tally.error is None and self.left.talks(stage, index)
        }
        if not rounds or self.control.stop_reason is not None:
            return
        for round_ in rounds.values():
            await self._warm_up(stage, round_.arm)
            await round_.begin(self.log, self.plan)
        for number, block in enumerate(blocks(len(self.left.conversations), stage.load)):
            turn = number + stage.repetition  # a round may have one block only
            for index in turns_of_arms(tuple(rounds), turn):
                await self._block(stage, rounds[index], block, number)
        for round_ in rounds.values():
            await round_.end(self.log)

    def _round(self, stage: Stage, arm: BenchArm) -> RoundUnderWay:
        round_id = stage.round_id(self.benchmark_id, arm.index)
        talks, is_fresh = self.left.talks(stage, arm.index), self.left.is_fresh(round_id)
        return RoundUnderWay(self.benchmark_id, stage, arm, talks, is_fresh=is_fresh)

    async def _block(self, stage: Stage, round_: RoundUnderWay, block: range, number: int) -> None:
        talks = [talk for talk in round_.talks if talk.prompt_index in block]
        arm = round_.arm
        rng = random.Random(f"{self.plan.seed}/{stage.repetition}/{number}")
        while talks and await self._may_go_on(arm):
            if self.measuring_lock.is_wanted:
                self.repeats.seen(await self.repeats.watch.settle())
            await self.measuring_lock.let_others_go()
            answers: list[Answered] = []
            async with self.measuring_lock.hold():
                self._say(stage, arm)
                under_way = Block(
                    talks,
                    arm.engine.sample,
                    partial(self._keep, round_, answers),
                    lambda: self.control.may_send(stage.load) and arm.tally.error is None,
                )
                round_.next_block()
                self.repeats.watch.begin()
                began = time.monotonic()
                async with round_.watched():
                    await under_way.run(stage.load, rng)
                    wall_s = time.monotonic() - began
            measured = round_.measured(talks, answers, wall_s, under_way.phase_ms)
            self.repeats.seen(self.repeats.watch.end(measured))
            count = len(talks) - len(under_way.rest)
            self.tally.block_done(arm.index, stage.load, count, wall_s)
            talks = list(under_way.rest)
            await self._look_after(arm)
        if talks:
            round_.whole = False

    async def _may_go_on(self, arm: BenchArm) -> bool:
        """Wait while paused; False once the arm or the benchmark is at its end."""
        if self.control.is_paused:
            self.repeats.seen(await self.repeats.watch.settle())
        await self.control.until_unpaused(self.tally)
        budget = self.plan.time_budget_s
        if budget is not None and self.tally.elapsed_s > budget:
            self.control.stop_reason = (
                f"The time budget of {budget / 60:g} minutes is used up: resume to go on."
            )
        return self.control.stop_reason is None and arm.tally.error is None

    def _keep(self, round_: RoundUnderWay, answers: list[Answered], answered: Answered) -> None:
        """Store one request, and count it."""
        tally = round_.arm.tally
        answers.append(answered)
        self.log.add(sample_row(round_.run_id, round_.round_id, round_.block, answered))
        if answered.sample is not None:
            round_.arm.failures, round_.arm.is_suspect = 0, False
            tally.add(answered.sample)
            return
        tally.failed += 1
        round_.whole = False
        if isinstance(answered.error, RequestRefused):  # nor can its later turns be asked
            turns = self.left.conversations[answered.prompt_index].turns
            self.refused += len(turns) - answered.turn
        else:
            round_.arm.is_suspect = True
        round_.arm.failures += 1
        if round_.arm.failures >= FAILURES_IN_A_ROW:
            self._give_up(
                round_.arm,
                f"{FAILURES_IN_A_ROW} requests in a row failed, the last one: {answered.error}",
            )

    async def _look_after(self, arm: BenchArm) -> None:
        """After a failure: is the server still there?"""
        if arm.is_suspect and arm.tally.error is None and (reason := await arm.why_dead()):
            self._give_up(arm, reason)

    def _give_up(self, arm: BenchArm, reason: str) -> None:
        """Mark an arm that was open; the others go on."""
        self._mark_failed(arm.index, reason)
        self.log.arm(arm.row(reason))

    def _mark_failed(self, index: int, reason: str) -> None:
        tally = self.tally.arms[index]
        tally.error, tally.phase = reason, "failed"

    async def _warm_up(self, stage: Stage, arm: BenchArm) -> None:
        """Unmeasured requests in the stage's shape, once per arm, temperature and load."""
        shape = (stage.temperature, stage.load)
        if shape in arm.warm or self.plan.warmup == 0:
            return
        arm.tally.phase, arm.tally.note = "starting", "warming up"
        self.tally.doing = f"warming up {arm.tally.name}"
        short = self.left.warm_up(stage, arm.index)
        answers: list[Answered] = []
        while short and await self._may_go_on(arm):
            async with self.measuring_lock.hold():
                block = Block(
                    short, arm.engine.sample, answers.append, lambda: self.control.goes_on
                )
                await block.run(Load(concurrency=stage.load.most_at_once), random.Random(0))
            short = list(block.rest)
        errors = [answer.error for answer in answers if answer.error]
        if errors and len(errors) == len(answers):
            self._give_up(arm, f"No warm-up request was answered: {errors[-1]}")
        arm.warm.add(shape)
        arm.tally.note = None

    def _say(self, stage: Stage, arm: BenchArm) -> None:
        for other in self.tally.arms:
            if other.phase == "measuring":
                other.phase = "waiting"
        arm.tally.phase = "measuring"
        parts = [stage.load.title]
        if not isinstance(stage.load, Traffic):
            parts.append(f"temperature {stage.temperature:g}")
        if self.plan.repetitions > 1:
            parts.append(f"run {stage.repetition + 1} of {self.plan.repetitions}")
        self.tally.doing = " · ".join(parts)


def outcome(bench: Bench) -> tuple[RunStatus, str | None]:
    """The status of a benchmark that no user cancelled, and why requests are missing."""
    arms = bench.tally.arms
    missing = sum(arm.planned - arm.done for arm in arms)
    errors = [f"{arm.name}: {arm.error}" for arm in arms if arm.error]
    if bench.control.stop_reason is not None:
        return RunStatus.PARTIAL, bench.control.stop_reason
    if errors:
        return RunStatus.PARTIAL, " ".join(errors)
    if missing > bench.refused:
        again = "it" if missing == 1 else "them"
        sentence = f"{counted(missing, 'request')} failed: resume to send {again} again."
        return RunStatus.PARTIAL, sentence
    return RunStatus.FINISHED, None

"""The process-wide board of background jobs: start, find, cancel.

Each job runs in one plain thread with its own event loop; it knows nothing of pages or sockets.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from specviz.config import Prompt, Run, RunConfig, RunStatus
from specviz.engines.base import Engine
from specviz.errors import SpecvizError, UsageError
from specviz.live.job import MAX_ARMS, ArmLog, Job, Phase, speedups
from specviz.live.measuring_lock import MeasuringLock
from specviz.live.record import answer, store_failure
from specviz.store import RunSink

Note = Callable[[str], None]
OpenArm = Callable[[RunConfig, Note], Awaitable[tuple[Engine, RunConfig]]]
"""Make an arm's engine ready, starting a server if need be, and complete its configuration."""

_log = logging.getLogger(__name__)

KEPT_JOBS = 10
"""Finished jobs kept in memory for pages that show them; older ones are in the store."""


class JobBoard:
    """All jobs of this process."""

    def __init__(
        self, open_arm: OpenArm, store: RunSink, measuring_lock: MeasuringLock | None = None
    ) -> None:
        self._open_arm = open_arm
        self._store = store
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._measuring_lock = measuring_lock or MeasuringLock()

    def start(self, prompt: Prompt, configs: Sequence[RunConfig], *, at_once: bool = False) -> Job:
        """Start a job. Raises UsageError for no arm or too many."""
        if not 1 <= len(configs) <= MAX_ARMS:
            raise UsageError(f"Choose one to {MAX_ARMS} arms, not {len(configs)}.")
        arms = [ArmLog(uuid.uuid4().hex, config) for config in configs]
        job = Job(uuid.uuid4().hex, prompt, arms, at_once=at_once)
        with self._lock:
            self._remember_earlier(job)
            self._jobs[job.job_id] = job
            self._forget_old()
        threading.Thread(target=self._run, args=(job,), name=f"job-{job.job_id[:8]}").start()
        return job

    def get(self, job_id: str) -> Job | None:
        return self._jobs.get(job_id)

    def cancel(self, job_id: str) -> None:
        """Stop a job's arms; what arrived is kept. Does nothing to a finished one."""
        job = self.get(job_id)
        if job is not None:
            job.cancellation.request()

    def close(self, timeout_s: float = 10.0) -> None:
        """Cancel everything and wait for it to be stored."""
        for job in list(self._jobs.values()):
            self.cancel(job.job_id)
            job.done.wait(timeout_s)

    def _remember_earlier(self, job: Job) -> None:
        """Give each arm its speed-ups in the kept jobs that asked for the same."""
        same = [
            other.speedups
            for other in self._jobs.values()
            if other.done.is_set()
            and (other.prompt.text, other.asked, other.at_once)
            == (job.prompt.text, job.asked, job.at_once)
        ]
        for arm, found in zip(job.arms, zip(*same, strict=True), strict=False):
            arm.earlier = tuple(one for one in found if one is not None)

    def _forget_old(self) -> None:
        finished = [job_id for job_id, job in self._jobs.items() if job.done.is_set()]
        for job_id in finished[: max(0, len(self._jobs) - KEPT_JOBS)]:
            del self._jobs[job_id]

    def _run(self, job: Job) -> None:
        try:
            asyncio.run(self._run_arms(job))
        except asyncio.CancelledError:
            for arm in job.arms:
                if not arm.phase.is_final:
                    arm.end(RunStatus.CANCELLED, "cancelled before it started")
        except Exception as error:
            # a bug: watchers must not wait for ever; the details go to the log
            for arm in job.arms:
                if not arm.phase.is_final:
                    arm.end(
                        RunStatus.FAILED, f"{type(error).__name__}: {error} (see the app's log)"
                    )
            _log.exception("A job ended in an unexpected error.")
        finally:
            job.speedups = speedups(job.arms)
            job.done.set()

    async def _run_arms(self, job: Job) -> None:
        async with AsyncExitStack() as engines:
            engines.enter_context(job.cancellation.ends_current_task())
            # servers load in parallel; measuring starts when all are loaded
            opened = await asyncio.gather(*(self._open(job, arm, engines) for arm in job.arms))
            ready = [(arm, engine) for arm, engine in zip(job.arms, opened, strict=True) if engine]
            async with self._measuring([arm for arm, _ in ready]):
                if job.at_once:
                    await asyncio.gather(*(self._answer(job, arm, engine) for arm, engine in ready))
                else:
                    for arm, engine in ready:
                        await self._answer(job, arm, engine)

    @asynccontextmanager
    async def _measuring(self, arms: Sequence[ArmLog]) -> AsyncIterator[None]:
        """One job at a time: another's requests, or work of the app, would slow both down."""

        def say(note: str | None) -> None:
            for arm in arms:
                arm.note = note

        async with self._measuring_lock.hold(lambda: say("waiting for other work of the app")):
            say(None)
            yield

    async def _open(self, job: Job, arm: ArmLog, engines: AsyncExitStack) -> Engine | None:
        def note(text: str) -> None:
            arm.note = text

        arm.phase = Phase.STARTING
        try:
            engine, arm.config = await self._open_arm(arm.config, note)
        except SpecvizError as error:
            sentence = store_failure(_run_of(job, arm), job.prompt, self._store, str(error))
            arm.end(RunStatus.FAILED, sentence)
            return None
        engines.push_async_callback(engine.close)
        arm.phase, arm.note = Phase.WAITING, None
        return engine

    async def _answer(self, job: Job, arm: ArmLog, engine: Engine) -> None:
        arm.phase = Phase.RUNNING
        try:
            outcome = await answer(engine, _run_of(job, arm), job.prompt, self._store, arm.append)
        except asyncio.CancelledError:
            arm.end(RunStatus.CANCELLED, "cancelled: what arrived is kept")
            raise
        arm.end(outcome.status, outcome.error)


def _run_of(job: Job, arm: ArmLog) -> Run:
    return Run(
        run_id=arm.run_id,
        group_id=job.job_id,
        config=replace(arm.config, prompt_set=job.prompt.category),
        status=RunStatus.RUNNING,
        started_at=datetime.now(UTC),
    )

"""Background jobs over engines that replay, fail, hang or break off; the store is a real one."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from specviz.config import EngineKind, Prompt, RunConfig, RunStatus, Sampling
from specviz.engines.base import Engine
from specviz.engines.replay import ReplayEngine
from specviz.errors import ServerUnreachable, StreamBroken, UsageError
from specviz.live.job import Job, Phase, comparisons
from specviz.live.jobs import KEPT_JOBS, JobBoard
from specviz.methods import Method
from specviz.store import Store, open_store
from specviz.store.runs.runs import read_group, read_run, read_trace
from specviz.trace import EmittedToken, Event, Fidelity, Origin, Step, Trace

PROMPT = Prompt("hello")
BASELINE = RunConfig(EngineKind.VLLM, Method.BASELINE)
DRAFTED = RunConfig(EngineKind.VLLM, Method.NGRAM, 3)


def trace(request_id: str, *ids: int) -> Trace:
    steps = tuple(
        Step(index, float(index), (), (EmittedToken(index, token, f"{token} ", Origin.TARGET),))
        for index, token in enumerate(ids)
    )
    return Trace(request_id, Fidelity.COUNTED, steps, (1,), 1.0, float(len(ids)), "stop")


class Breaking(ReplayEngine):
    """Sends what it has, then fails or hangs."""

    def __init__(self, shown: Trace, ending: Callable[[], object]) -> None:
        super().__init__(replace(shown, finish_reason=None), speed=None)
        self._ending = ending
        self.closed_requests = 0

    async def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Event, None]:
        try:
            async for event in super().generate(prompt, sampling):
                yield event
            outcome = self._ending()
            if asyncio.iscoroutine(outcome):
                await outcome
        finally:
            self.closed_requests += 1


def broken() -> None:
    raise StreamBroken("The server died.")


@pytest.fixture
def store(tmp_path: Path, empty_database: Path) -> Iterator[Store]:
    with open_store(shutil.copyfile(empty_database, tmp_path / "runs.duckdb")) as opened:
        yield opened


def board(store: Store, *engines: Engine | Exception) -> JobBoard:
    """A board whose arms get these engines in turn."""
    remaining = list(engines)

    async def open_arm(config: RunConfig, note: Callable[[str], None]) -> tuple[Engine, RunConfig]:
        engine = remaining.pop(0)
        if isinstance(engine, Exception):
            raise engine
        return engine, config

    return JobBoard(open_arm, store)


def finished(job: Job) -> Job:
    assert job.done.wait(60)
    return job


def test_arms_run_one_after_another_and_are_stored(store: Store) -> None:
    one, two = trace("a", 1, 2, 3), trace("b", 1, 2, 3)
    jobs = board(store, ReplayEngine(one, None), ReplayEngine(two, None))
    job = finished(jobs.start(PROMPT, [BASELINE, DRAFTED]))
    assert [arm.phase for arm in job.arms] == [Phase.FINISHED, Phase.FINISHED]
    assert [comparison.equal for comparison in comparisons(job.arms)] == [True]
    assert [run.status for run in store.read(read_group, job.job_id)] == [RunStatus.FINISHED] * 2
    assert store.read(read_trace, "b") == two


def test_an_arm_that_cannot_open_is_stored_as_failed_and_the_others_run(store: Store) -> None:
    jobs = board(store, ServerUnreachable("Nothing answers."), ReplayEngine(trace("b", 1), None))
    job = finished(jobs.start(PROMPT, [BASELINE, DRAFTED]))
    assert [arm.phase for arm in job.arms] == [Phase.FAILED, Phase.FINISHED]
    assert job.arms[0].note == "Nothing answers."
    assert store.read(read_run, job.arms[0].run_id).error == "Nothing answers."


def test_a_defect_ends_every_arm_with_its_name_instead_of_leaving_it_waiting(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    jobs = board(store, ImportError("no such name"), ReplayEngine(trace("b", 1), None))
    job = finished(jobs.start(PROMPT, [BASELINE, DRAFTED]))
    assert [arm.phase for arm in job.arms] == [Phase.FAILED, Phase.FAILED]
    assert "ImportError: no such name" in (job.arms[0].note or "")
    assert "Traceback" in caplog.text


def test_an_answer_that_breaks_off_is_partial_with_what_arrived(store: Store) -> None:
    jobs = board(store, Breaking(trace("a", 1, 2), broken))
    job = finished(jobs.start(PROMPT, [BASELINE]))
    assert job.arms[0].phase is Phase.PARTIAL
    assert store.read(read_trace, "a").token_ids == (1, 2)
    assert store.read(read_run, job.arms[0].run_id).status is RunStatus.PARTIAL


def test_cancel_stops_the_request_keeps_what_arrived_and_the_arms_to_come(store: Store) -> None:
    hanging = Breaking(trace("a", 1, 2), lambda: asyncio.sleep(900))
    jobs = board(store, hanging, ReplayEngine(trace("b", 1), None))
    job = jobs.start(PROMPT, [BASELINE, DRAFTED])
    deadline = time.monotonic() + 60
    while len(job.arms[0].events) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    jobs.cancel(job.job_id)
    finished(job)
    assert [arm.phase for arm in job.arms] == [Phase.CANCELLED, Phase.CANCELLED]
    assert hanging.closed_requests == 1
    assert store.read(read_trace, "a").token_ids == (1, 2)
    assert store.read(read_run, job.arms[0].run_id).status is RunStatus.CANCELLED


def test_a_job_cancelled_before_its_task_begins_asks_nobody(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs, begins = board(store, Breaking(trace("a", 1), broken)), threading.Event()
    run_arms = jobs._run_arms

    async def late(job: Job) -> None:
        begins.wait(60)
        await run_arms(job)

    monkeypatch.setattr(jobs, "_run_arms", late)
    job = jobs.start(PROMPT, [BASELINE])
    jobs.cancel(job.job_id)
    begins.set()
    arm = finished(job).arms[0]
    assert (arm.phase, arm.note) == (Phase.CANCELLED, "cancelled before it started")
    assert arm.events == []
    jobs.cancel(job.job_id)  # nothing is left of it to cancel


def test_closing_the_board_ends_running_jobs(store: Store) -> None:
    jobs = board(store, Breaking(trace("a", 1), lambda: asyncio.sleep(900)))
    job = jobs.start(PROMPT, [BASELINE])
    while not job.arms[0].events:
        time.sleep(0.01)
    jobs.close()
    assert job.done.is_set()


def test_arms_at_once_overlap(store: Store) -> None:
    slow = [ReplayEngine(trace(name, *range(40)), 0.1) for name in "ab"]
    jobs = board(store, *slow)
    job = jobs.start(PROMPT, [BASELINE, DRAFTED], at_once=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if all(arm.phase is Phase.RUNNING and len(arm.events) > 2 for arm in job.arms):
            break
        time.sleep(0.005)
    else:
        pytest.fail("the arms never ran at the same time")
    finished(job)


def test_a_second_job_waits_for_its_turn(store: Store) -> None:
    jobs = board(
        store,
        Breaking(trace("a", 1), lambda: asyncio.sleep(900)),
        ReplayEngine(trace("b", 1), None),
    )
    first = jobs.start(PROMPT, [BASELINE])
    while not first.arms[0].events:
        time.sleep(0.01)
    second = jobs.start(PROMPT, [BASELINE])
    while second.arms[0].note != "waiting for other work of the app":
        time.sleep(0.01)
    assert second.arms[0].phase is Phase.WAITING
    jobs.cancel(first.job_id)
    assert finished(second).arms[0].phase is Phase.FINISHED


@pytest.mark.parametrize("number", [0, 5])
def test_too_few_or_too_many_arms(store: Store, number: int) -> None:
    with pytest.raises(UsageError, match="one to 4"):
        board(store).start(PROMPT, [BASELINE] * number)


def test_jobs_that_are_over_leave_memory_and_stay_in_the_store(store: Store) -> None:
    traces = [trace(str(number), 1) for number in range(KEPT_JOBS + 2)]
    jobs = board(store, *(ReplayEngine(one, None) for one in traces))
    done = [finished(jobs.start(PROMPT, [BASELINE])) for _ in traces]
    assert [jobs.get(job.job_id) is job for job in done] == [
        *[False] * 2,
        *[True] * KEPT_JOBS,
    ]
    assert store.read(read_trace, "0") == traces[0]


def test_a_prompt_that_is_run_again_knows_its_earlier_speed_ups(store: Store) -> None:
    plain, fast = trace("a", 1, 2, 3, 4), replace(trace("b", 1, 2, 3, 4), e2el_ms=2.0)
    pair = [ReplayEngine(plain, speed=None), ReplayEngine(fast, speed=None)]
    jobs = board(store, *pair * 3)

    def run(prompt: Prompt, k: int = 3) -> Job:
        job = jobs.start(prompt, [BASELINE, replace(DRAFTED, k=k)])
        assert job.done.wait(60)
        return job

    assert [arm.earlier for arm in run(PROMPT).arms] == [(), ()]
    again = run(PROMPT)
    assert again.arms[1].earlier == (2.0,) and again.arms[0].earlier == (1.0,)
    assert [arm.earlier for arm in run(Prompt("another")).arms] == [(), ()]
    jobs.close()

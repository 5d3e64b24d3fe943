"""The benchmarks of this process: start, pause, cancel, resume; one runs at a time.

Each runs in its own thread with its own event loop and servers, whichever page is open.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress

from specviz.bench.control import Control
from specviz.bench.plan.check import check_arms, servers_at_once
from specviz.bench.plan.located import located
from specviz.bench.plan.plan import Plan
from specviz.bench.plan.toml import parse_plan, plan_to_toml
from specviz.bench.progress import BenchPhase, Progress
from specviz.bench.requests_left import RequestsLeft
from specviz.bench.runner import Bench, Note, OpenTimedArm, outcome
from specviz.bench.tally import ArmTally, Tally
from specviz.config import RunConfig, RunStatus
from specviz.errors import SpecvizError, UsageError
from specviz.live.measuring_lock import MeasuringLock
from specviz.machine import git_revision, hardware_summary
from specviz.opening import TimedArm, open_timed_arm
from specviz.paths import LOGS
from specviz.prompts.sets import Conversation, load_conversations
from specviz.servers.launch.pool import ServerPool
from specviz.store import Store
from specviz.store.benchmarks.reads import (
    read_arms,
    read_benchmark,
    read_conversations,
    read_disturbed,
    read_done,
)

CANCELLED = "Cancelled; what had finished is kept: resume to go on."
CLOSED = "specviz was closed; what had finished is kept: resume to go on."

_log = logging.getLogger(__name__)


OpenArms = Callable[[], AbstractContextManager[OpenTimedArm]]
"""What opens a benchmark's arms; on leaving, the servers it started end."""


@contextmanager
def arms_of_this_machine() -> Iterator[OpenTimedArm]:
    """The real engines, with servers of the benchmark's own."""
    with closing(ServerPool(LOGS, max_servers=None)) as pool:

        async def open_arm(config: RunConfig, note: Note) -> TimedArm:
            try:
                return await open_timed_arm(config, pool, note)
            except asyncio.CancelledError:
                pool.close()  # a server that is starting would be waited for
                raise

        yield open_arm


class BenchBoard:
    """All benchmarks of this process. Methods may be called from any thread."""

    def __init__(
        self,
        store: Store,
        measuring_lock: MeasuringLock,
        open_arms: OpenArms,
    ) -> None:
        self._store = store
        self._measuring_lock = measuring_lock
        self._open_arms = open_arms
        self._benches: dict[str, Bench] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._lock = threading.Lock()

    def start(self, plan: Plan) -> str:
        """Begin a benchmark; returns its id. Raises UsageError or StoreError."""
        plan = parse_plan(plan_to_toml(plan))  # as `resume` reads it: round ids depend on it
        plan = located(plan, self._store)
        check_arms(plan)
        skipped: list[str] = []
        conversations = load_conversations(plan.prompts, skipped.append)
        benchmark_id = uuid.uuid4().hex
        with self._lock:
            self._check_free()
            at_once = servers_at_once(plan)
            bench = self._bench(benchmark_id, plan, at_once, conversations)
            bench.tally.skipped = "".join(skipped) or None
            bench.log.begin(
                name=plan.name,
                plan_toml=plan_to_toml(plan),
                planned=sum(arm.planned for arm in bench.tally.arms),
                conversations=conversations,
                servers_at_once=at_once,
                hardware=hardware_summary(),
                git_revision=git_revision(),
            )
            self._launch(bench)
        return benchmark_id

    def resume(self, benchmark_id: str) -> None:
        """Send an interrupted benchmark's missing requests. Raises UsageError or StoreError."""
        with self._lock:
            self._check_free()
            row = self._store.read(read_benchmark, benchmark_id)
            if row.status is RunStatus.FINISHED:
                raise UsageError(f"The benchmark {row.name} is finished: nothing is missing.")
            plan = located(parse_plan(row.plan_toml), self._store)
            check_arms(plan)
            conversations = self._store.read(read_conversations, benchmark_id)
            bench = self._bench(benchmark_id, plan, row.servers_at_once, conversations)
            bench.log.reopen()
            bench.opened = self._store.read(read_arms, benchmark_id)
            bench.left.take_up(self._store.read(read_done, benchmark_id), bench.log)
            for arm, count in bench.left.done_by_arm().items():
                bench.tally.arms[arm].done = count
            disturbed = self._store.read(read_disturbed, benchmark_id)
            bench.repeats.disturbed += bench.left.disturbed(disturbed)
            self._launch(bench)

    def pause(self, benchmark_id: str) -> None:
        """Send nothing new until `unpause`. Does nothing to one that does not run."""
        if bench := self._benches.get(benchmark_id):
            bench.control.pause()

    def unpause(self, benchmark_id: str) -> None:
        if bench := self._benches.get(benchmark_id):
            bench.control.unpause()

    def cancel(self, benchmark_id: str) -> None:
        """End it; what has finished is kept. Does nothing to one that does not run."""
        if bench := self._benches.get(benchmark_id):
            bench.control.cancel(CANCELLED)

    def progress(self, benchmark_id: str) -> Progress | None:
        """How far it is; None if this process never ran it."""
        bench = self._benches.get(benchmark_id)
        return bench.tally.snapshot() if bench else None

    def running(self) -> str | None:
        """The id of the one that runs."""
        for benchmark_id, bench in self._benches.items():
            if not bench.tally.phase.is_final:
                return benchmark_id
        return None

    def wait(self, benchmark_id: str, timeout_s: float | None = None) -> bool:
        """Wait until it has ended and is stored; False after the timeout."""
        thread = self._threads.get(benchmark_id)
        if thread is not None:
            thread.join(timeout_s)
        return thread is None or not thread.is_alive()

    def close(self, timeout_s: float = 30.0) -> None:
        """End what runs, resumable, and wait for it to be stored."""
        for benchmark_id, bench in self._benches.items():
            bench.control.cancel(CLOSED)
            self.wait(benchmark_id, timeout_s)

    def _check_free(self) -> None:
        if (running := self.running()) is not None:
            name = self._benches[running].plan.name
            raise UsageError(
                f"The benchmark {name} is running: wait for it or cancel it, because two at once "
                "would slow each other down."
            )

    def _bench(
        self,
        benchmark_id: str,
        plan: Plan,
        at_once: int,
        conversations: Sequence[Conversation],
    ) -> Bench:
        bench = Bench(
            RequestsLeft(benchmark_id, plan, at_once, conversations),
            self._store.benchmark_log(benchmark_id),
            Tally(benchmark_id, plan.name, [ArmTally(name, 0) for name in plan.arm_names]),
            Control(),
            self._measuring_lock,
        )
        for arm, planned in bench.left.planned().items():
            bench.tally.arms[arm].planned = planned
        return bench

    def _launch(self, bench: Bench) -> None:
        self._benches[bench.benchmark_id] = bench
        thread = threading.Thread(
            target=self._run, args=(bench,), name=f"bench-{bench.benchmark_id[:8]}"
        )
        self._threads[bench.benchmark_id] = thread
        thread.start()

    def _run(self, bench: Bench) -> None:
        try:
            with self._open_arms() as open_arm:
                status, error = asyncio.run(_measure(bench, open_arm))
        except SpecvizError as failure:
            status, error = RunStatus.FAILED, str(failure)
        except Exception as defect:
            _log.exception("A benchmark ended in an unexpected error.")
            status, error = RunStatus.FAILED, f"{type(defect).__name__}: {defect}"
        try:
            bench.log.end(status, error)
        except SpecvizError as store_error:
            said = dict.fromkeys((error, str(store_error)))
            status, error = RunStatus.FAILED, " ".join(filter(None, said))
        bench.tally.end(BenchPhase(status.value), error)


async def _measure(bench: Bench, open_arm: OpenTimedArm) -> tuple[RunStatus, str | None]:
    with suppress(asyncio.CancelledError), bench.control.cancellation.ends_current_task():
        await bench.run(open_arm)
    if bench.control.stop_reason == CANCELLED:
        return RunStatus.CANCELLED, CANCELLED
    return outcome(bench)

"""What a process has once: stores, a secret, job board, servers, fleet, benchmarks, redrafts,
arenas."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

from specviz.bench.board import BenchBoard, OpenArms, arms_of_this_machine
from specviz.bench.kept_results import KeptResults
from specviz.config import RunConfig
from specviz.engines.base import Engine
from specviz.errors import SpecvizError, StoreError, UsageError
from specviz.fleet.monitor import Monitor
from specviz.fleet.named import named_servers
from specviz.live.jobs import JobBoard, OpenArm
from specviz.live.measuring_lock import MeasuringLock
from specviz.memory import leave_out_of_collections
from specviz.opening import open_arm as open_any_arm
from specviz.paths import LOGS
from specviz.servers.launch.pool import ServerPool
from specviz.servers.llama_cpp.conversion.cache import write_default_models
from specviz.store import Location, Store, default_location, open_store
from specviz.store.benchmarks.reads import read_benchmarks
from specviz.store.history.edits import remove_expired
from specviz.store.secret import published_secret
from specviz.store.shipped import Shipped
from specviz.store.shown import Shown
from specviz.sweep.redraft_board import RedraftBoard


@dataclass(frozen=True, slots=True)
class Runtime:
    store: Store
    """Your own: every run is written here."""
    shown: Shown
    """What pages show: that store, or the sample."""
    jobs: JobBoard
    servers: ServerPool
    fleet: Monitor
    """How servers are, those of the store and those that were started here."""
    benchmarks: BenchBoard
    redrafts: RedraftBoard
    results: KeptResults
    measuring_lock: MeasuringLock
    secret: str = field(repr=False)
    """What a program of the app's own user shows to the routes."""


_current: Runtime | None = None


@contextmanager
def opened(
    location: Location | None = None,
    *,
    open_arm: OpenArm | None = None,
    timed_arms: OpenArms = arms_of_this_machine,
    sample: Path | None = None,
) -> Iterator[Runtime]:
    """Open the store and everything on it; on leaving, jobs end, servers stop, data is on disk.

    `open_arm` and `timed_arms` replace the real engines, in tests for example. `sample`: the file
    that pages show until the store has something of its own.
    Raises StoreBusy or StoreError if the database cannot be owned.
    """
    global _current
    with (
        open_store(location or default_location()) as store,
        published_secret(store.location) as secret,
        closing(Shipped(sample)) if sample else nullcontext() as shipped,
    ):
        store.write(remove_expired, datetime.now(UTC))
        named_servers(store)  # arms at their URLs need their API keys
        servers, fleet = ServerPool(LOGS), Monitor()

        async def open_in_pool(
            config: RunConfig, note: Callable[[str], None]
        ) -> tuple[Engine, RunConfig]:
            return await open_any_arm(config, servers, note)

        measuring_lock = MeasuringLock()
        jobs = JobBoard(open_arm or open_in_pool, store, measuring_lock)
        benchmarks = BenchBoard(store, measuring_lock, timed_arms)
        redrafts = RedraftBoard(store, measuring_lock)
        shown = Shown(store, shipped)
        results = KeptResults()
        _current = Runtime(
            store,
            shown,
            jobs,
            servers,
            fleet,
            benchmarks,
            redrafts,
            results,
            measuring_lock,
            secret,
        )
        try:
            with (
                closing(servers),
                closing(fleet),
                closing(jobs),
                closing(benchmarks),
                closing(redrafts),
            ):
                yield _current
        finally:
            _current = None


def finish_start(runtime: Runtime, after: threading.Thread) -> threading.Thread:
    """Do in the background, once the thread `after` has ended, what pages do not wait for.

    Open the sample where pages will show it, write the default model for llama.cpp, and work out
    what the first page of benchmarks needs: a second at a time, while nobody measures. A run
    beside it was ten times as slow, and so was a baseline whose draft arm then ran alone.
    """
    hold_off = runtime.measuring_lock.hold_off

    def finish() -> None:
        with suppress(StoreError):  # closed: the app has ended meanwhile
            sample = runtime.shown.benchmarks()
            after.join()
            with hold_off(), suppress(UsageError):  # a run on llama.cpp reports it
                write_default_models()
            if sample is not runtime.store:
                for row in sample.read(read_benchmarks):
                    with hold_off():
                        runtime.results.of(sample, row)
        with hold_off():
            leave_out_of_collections()

    thread = threading.Thread(target=finish, name="start")
    thread.start()
    return thread


def end_process(error: SpecvizError) -> NoReturn:
    """End a process that cannot own its store, with the sentence alone.

    A web server reports whatever is raised while it starts, SystemExit too, with a traceback.
    """
    print(error, file=sys.stderr, flush=True)
    os._exit(1)


def current() -> Runtime:
    """The runtime of this process. Raises RuntimeError before `opened`."""
    if _current is None:
        raise RuntimeError("no runtime: start the app with `make run` or `streamlit run app.py`")
    return _current

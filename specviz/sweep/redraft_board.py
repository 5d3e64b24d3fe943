"""The redrafts of this process: in the background, one at a time, never during a benchmark."""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import dataclass, replace
from functools import partial

from specviz.errors import SpecvizError, UsageError
from specviz.live.measuring_lock import MeasuringLock
from specviz.store import Store
from specviz.sweep.redraft import RedraftStopped, redraft_arm

_log = logging.getLogger(__name__)

ArmKey = tuple[str, int]
"""Benchmark and arm index."""


@dataclass(frozen=True, slots=True)
class RedraftProgress:
    """Answers drafted again so far; `ended` with or without an `error`."""

    done: int = 0
    planned: int = 0
    ended: bool = False
    error: str | None = None


class RedraftBoard:
    """Starts redrafts and reports their progress. Methods may be called from any thread."""

    def __init__(self, store: Store, measuring_lock: MeasuringLock) -> None:
        self._store = store
        self._measuring_lock = measuring_lock
        self._progress: dict[ArmKey, RedraftProgress] = {}
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._lock = threading.Lock()

    def start(self, benchmark_id: str, arm_index: int) -> None:
        """Begin a redraft. Raises UsageError while another one runs."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                raise UsageError("Another redraft is running: wait for it or stop it.")
            self._stop.clear()
            key = (benchmark_id, arm_index)
            self._progress[key] = RedraftProgress()
            self._thread = threading.Thread(target=self._run, args=(key,), name="redraft")
            self._thread.start()

    def progress(self, benchmark_id: str, arm_index: int) -> RedraftProgress | None:
        """None if this process never redrafted the arm."""
        return self._progress.get((benchmark_id, arm_index))

    def stop(self) -> None:
        """Stop the one that runs; nothing of it is kept."""
        self._stop.set()

    def wait(self, timeout_s: float | None = None) -> None:
        """Until the one that runs has ended."""
        if self._thread is not None:
            self._thread.join(timeout_s)

    def close(self, timeout_s: float = 30.0) -> None:
        self.stop()
        self.wait(timeout_s)

    def _run(self, key: ArmKey) -> None:
        error: str | None = None
        try:
            asyncio.run(self._when_free(key))
        except RedraftStopped:
            error = "Stopped: nothing was kept."
        except SpecvizError as failure:
            error = str(failure)
        except Exception as defect:
            _log.exception("A redraft ended in an unexpected error.")
            error = f"{type(defect).__name__}: {defect}"
        self._progress[key] = replace(self._progress[key], ended=True, error=error)

    async def _when_free(self, key: ArmKey) -> None:
        async with self._measuring_lock.hold(on_wait=self._check):
            report = partial(self._report, key)
            await asyncio.to_thread(redraft_arm, self._store, *key, report, self._stop.is_set)

    def _check(self) -> None:
        if self._stop.is_set():
            raise RedraftStopped

    def _report(self, key: ArmKey, done: int, planned: int) -> None:
        self._progress[key] = RedraftProgress(done, planned)

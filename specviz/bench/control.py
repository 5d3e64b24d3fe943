"""Pause, unpause and cancel a running benchmark, from any thread."""

from __future__ import annotations

import asyncio
import threading

from specviz.bench.load.load import Load
from specviz.bench.load.traffic import Traffic
from specviz.bench.progress import BenchPhase
from specviz.bench.tally import Tally
from specviz.live.cancellation import Cancellation

PAUSE_POLL_S = 0.1


class Control:
    """`stop_reason` is set once and says why nothing more is sent; `cancellation` is of the
    benchmark's task."""

    def __init__(self) -> None:
        self._go = threading.Event()
        self._go.set()
        self._lock = threading.Lock()
        self.cancellation = Cancellation()
        self.stop_reason: str | None = None

    @property
    def is_paused(self) -> bool:
        return not self._go.is_set()

    @property
    def goes_on(self) -> bool:
        """Whether new requests may be sent."""
        return self._go.is_set() and self.stop_reason is None

    def may_send(self, load: Load | Traffic) -> bool:
        """Whether new requests of a load may be sent; a pass of traffic is never paused half-way,
        because what it sends depends on what went before."""
        return self.stop_reason is None and (isinstance(load, Traffic) or self.goes_on)

    def pause(self) -> None:
        """Send nothing new; what is under way is finished."""
        self._go.clear()

    def unpause(self) -> None:
        self._go.set()

    def cancel(self, reason: str) -> None:
        """Drop what is under way and end. Does nothing the second time."""
        with self._lock:
            if self.stop_reason is not None:
                return
            self.stop_reason = reason
        self.cancellation.request()

    async def until_unpaused(self, tally: Tally) -> None:
        """Wait while it is paused, or until it is to stop."""
        while self.is_paused and self.stop_reason is None:
            tally.phase = BenchPhase.PAUSED
            await asyncio.sleep(PAUSE_POLL_S)
        tally.phase = BenchPhase.RUNNING

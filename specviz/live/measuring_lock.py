"""Only one job, benchmark or redraft measures at a time: two at once would slow each other down,
and so would what the app does in the background."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

POLL_S = 0.05


class MeasuringLock:
    """One per process, held from event loops of different threads.

    A benchmark holds it for one block at a time, and lets whoever waits go before the next.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = threading.Lock()
        self._waiting = 0

    @asynccontextmanager
    async def hold(self, on_wait: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
        """Wait until nothing else measures; `on_wait` is called while waiting."""
        self._add(1)
        try:
            while not self._lock.acquire(blocking=False):
                on_wait()
                await asyncio.sleep(POLL_S)
        finally:
            self._add(-1)
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def hold_off(self) -> Iterator[None]:
        """Keep others from measuring during a second of background work. Whoever measures or waits
        goes first."""
        while self._waiting or not self._lock.acquire(blocking=False):
            time.sleep(POLL_S)
        try:
            yield
        finally:
            self._lock.release()

    @property
    def is_wanted(self) -> bool:
        """Whether somebody waits for it."""
        return self._waiting > 0

    async def let_others_go(self) -> None:
        """Wait until nobody waits any more. Call it without holding the lock."""
        while self._waiting:
            await asyncio.sleep(POLL_S)

    def _add(self, change: int) -> None:
        with self._count:
            self._waiting += change

"""Who may measure: one job or benchmark at a time, because both would spoil the other's figures."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

POLL_S = 0.05


class Turn:
    """Taken by event loops of different threads. A benchmark takes it for one block at a time, and
    `yields` to whoever is waiting before the next."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = threading.Lock()
        self._waiting = 0

    @asynccontextmanager
    async def taken(self, on_wait: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
        """Wait until nobody else measures; `on_wait` is called while waiting."""
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

    async def yields(self) -> None:
        """Let those who are waiting go first. Call without holding the turn."""
        while self._waiting:
            await asyncio.sleep(POLL_S)

    def _add(self, change: int) -> None:
        with self._count:
            self._waiting += change

"""Checks servers in a thread of its own, for as long as somebody looks."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterable
from concurrent.futures import CancelledError
from contextlib import suppress

from specviz.fleet.health import DEADLINE_S, Health, WatchedServer

INTERVAL_S = 5.0
LINGER_S = 30.0
"""How long checks go on after the last look."""

AT_ONCE = 16
"""Checks under way together; one server has one."""


class Monitor:
    """All methods may be called from any thread. The thread begins with the first look."""

    def __init__(self, *, interval_s: float = INTERVAL_S, linger_s: float = LINGER_S) -> None:
        self._interval_s, self._linger_s = interval_s, linger_s
        self._health: dict[str, Health] = {}
        self._looked_at: dict[str, float] = {}
        self._watched: dict[str, WatchedServer] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._asked: set[asyncio.Task[None]] = set()
        self._lock = threading.Lock()
        self._at_once = asyncio.Semaphore(AT_ONCE)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def look(self, urls: Iterable[str]) -> dict[str, Health]:
        """What is known of these servers, without waiting; those not in it are being asked."""
        urls = list(urls)
        self._looked_at.update(dict.fromkeys(urls, time.monotonic()))
        with self._lock:
            if urls and (loop := self._running_loop()) is not None:
                loop.call_soon_threadsafe(self._keep_checking, urls)
        return self.known(urls)

    def known(self, urls: Iterable[str]) -> dict[str, Health]:
        """What earlier checks found, without asking."""
        return {url: health for url in urls if (health := self._health.get(url)) is not None}

    def check(self, urls: Iterable[str]) -> dict[str, Health]:
        """Ask these servers now, side by side, and wait: no longer than a check's deadline each.

        Once this is closed, what was known.
        """
        urls = list(urls)
        with self._lock:
            loop = self._running_loop()
            if loop is None:
                return self.known(urls)
            asked = asyncio.run_coroutine_threadsafe(self._check_all(urls), loop)
        with suppress(CancelledError):  # closed meanwhile
            asked.result()
        return self.known(urls)

    def is_checking(self, url: str) -> bool:
        """Whether the server is asked again and again."""
        return url in self._tasks

    def close(self) -> None:
        """End all checks."""
        with self._lock:
            loop = None if self._closed else self._loop
            self._closed = True
            if loop is not None:
                loop.call_soon_threadsafe(loop.stop)
        if self._thread is not None:
            self._thread.join()

    def _running_loop(self) -> asyncio.AbstractEventLoop | None:
        """Under the lock: nothing may be scheduled behind the end."""
        if self._closed:
            return None
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._run, args=(self._loop,), name="fleet", daemon=True
            )
            self._thread.start()
        return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
        finally:
            loop.run_until_complete(self._end())
            loop.close()

    async def _end(self) -> None:
        tasks = [*self._tasks.values(), *self._asked]  # theirs end with them
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for watched in self._watched.values():
            await watched.close()

    def _keep_checking(self, urls: list[str]) -> None:
        for url in urls:
            if url not in self._tasks:
                self._tasks[url] = asyncio.ensure_future(self._while_somebody_looks(url))

    async def _while_somebody_looks(self, url: str) -> None:
        try:
            while time.monotonic() - self._looked_at[url] < self._linger_s:
                await self._check(url)
                await asyncio.sleep(self._interval_s)
        finally:
            del self._tasks[url]
            await self._of(url).close()

    async def _check_all(self, urls: list[str]) -> None:
        checks = [asyncio.ensure_future(self._check(url)) for url in urls]
        self._asked.update(checks)
        try:
            await asyncio.gather(*checks)
        finally:
            self._asked.difference_update(checks)

    async def _check(self, url: str) -> None:
        async with self._at_once:
            self._health[url] = await self._of(url).check(DEADLINE_S)

    def _of(self, url: str) -> WatchedServer:
        return self._watched.setdefault(url, WatchedServer(url))

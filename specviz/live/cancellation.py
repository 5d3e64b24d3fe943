"""Cancels a task from any thread, at any moment."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Cancellation:
    """Of one task. It may come before the task begins, which then never does, and after its end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._task: tuple[asyncio.AbstractEventLoop, asyncio.Task[None]] | None = None
        self._requested = False

    def request(self) -> None:
        """Cancel the task, once."""
        with self._lock:
            if self._task is not None and not self._requested:
                loop, task = self._task
                loop.call_soon_threadsafe(task.cancel)
            self._requested = True

    @contextmanager
    def ends_current_task(self) -> Iterator[None]:
        """For a task: what `request` cancels. Raises CancelledError if that came before."""
        task = asyncio.current_task()
        assert task is not None
        with self._lock:
            if self._requested:
                raise asyncio.CancelledError
            self._task = asyncio.get_running_loop(), task
        try:
            yield
        finally:
            with self._lock:
                self._task = None

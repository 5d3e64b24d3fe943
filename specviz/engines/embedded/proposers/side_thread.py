"""A second thread for torch work that runs alongside the first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from queue import Empty, SimpleQueue

import torch
from torch import Tensor

IDLE_S = 0.2
"""A thread idle for this long ends; the next job starts another."""

Job = tuple[Callable[[], None], "Future[None]", "torch.cuda.Event | None"]


class SideThread:
    """Runs one job at a time on one core, on a GPU in its own stream.

    The thread is no daemon: a process that ends while torch computes in one is aborted. A job sees
    everything computed before it was submitted, and whoever waits for it sees everything it
    computed. torch keeps one thread count per thread and a default for new ones; starting the
    thread leaves that default unchanged.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._latest: Future[None] | None = None

    def submit(self, work: Callable[[], None], *reads: Tensor) -> None:
        """Run `work` in the thread; `reads` are tensors of the caller's that it uses."""
        self._latest = Future()
        computed = None
        if self._stream is not None:
            computed = torch.cuda.current_stream(self._device).record_event()
            for tensor in reads:
                tensor.record_stream(self._stream)
        with self._lock:
            self._jobs.put((work, self._latest, computed))
            if self._thread is None:
                self._start()

    def wait(self) -> None:
        """Wait for the latest job, if there is one. Raises what it raised."""
        if self._latest is not None:
            latest, self._latest = self._latest, None
            latest.result()
            if self._stream is not None:
                torch.cuda.current_stream(self._device).wait_stream(self._stream)

    def _start(self) -> None:
        ready = threading.Event()
        threads = torch.get_num_threads()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="embedded-side")
        self._thread.start()
        ready.wait()
        torch.set_num_threads(threads)

    def _run(self, ready: threading.Event) -> None:
        torch.set_num_threads(1)
        ready.set()
        with torch.inference_mode(), self._in_stream():
            while (job := self._next()) is not None:
                work, future, computed = job
                try:
                    if self._stream is not None and computed is not None:
                        self._stream.wait_event(computed)
                    work()
                    future.set_result(None)
                except BaseException as error:  # raised again where the job is waited for
                    future.set_exception(error)

    def _next(self) -> Job | None:
        try:
            return self._jobs.get(timeout=IDLE_S)
        except Empty:
            with self._lock:
                if self._jobs.empty():
                    self._thread = None
                    return None
                return self._jobs.get()

    def _in_stream(self) -> AbstractContextManager[object]:
        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)

"""Writes one request into the database, event by event."""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from duckdb import DuckDBPyConnection

from specviz.config import Prompt, Run, RunStatus
from specviz.errors import StoreError
from specviz.store.file.writer import FLUSH_S, Writer
from specviz.store.runs.tables import end_request, insert_request, write_events
from specviz.trace import Event, RequestStarted, Step, StepsRevised, Trace, fold


class Recorder(Protocol):
    """Takes the events of one request. Methods may be called from any thread."""

    @property
    def error(self) -> str | None:
        """Why the last attempt to save failed; what was appended is kept for the next attempt."""

    @property
    def trace(self) -> Trace | None:
        """What was appended so far; None before RequestStarted."""

    def append(self, event: Event) -> None:
        """Take an event; returns at once. Raises ValueError for one out of order."""

    def finish(self, status: RunStatus, *, error: str | None = None) -> None:
        """End the request and wait until it is saved.

        Raises StoreError if it could not be; nothing is lost and `finish` may be called again.
        """


class RunSink(Protocol):
    """Where runs go: the store of this process, or the app that owns it."""

    def start_run(self, run: Run) -> None:
        """Save a run that begins. Raises StoreError."""

    def recorder(self, run_id: str, prompt: Prompt) -> Recorder:
        """Begin a request of a run that was started. Raises StoreError."""

    def finish_run(self, run_id: str, status: RunStatus, *, error: str | None = None) -> None:
        """Save how a run ended, now. Raises StoreError."""


class EventLog:
    """The events of one request, in an order that can be stored."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._last_index: int | None = None  # of the last step

    def append(self, event: Event) -> None:
        """Raises ValueError unless RequestStarted is first, once, and step indices ascend."""
        if isinstance(event, RequestStarted) == bool(self.events):
            raise ValueError("a request has one RequestStarted, before all other events")
        if isinstance(event, Step):
            self._last_index = _ascending(self._last_index, event)
        elif isinstance(event, StepsRevised):
            last = None
            for step in event.steps:
                last = _ascending(last, step)
            self._last_index = last
        self.events.append(event)

    @property
    def trace(self) -> Trace | None:
        """None before RequestStarted."""
        return fold(self.events) if self.events else None


def _ascending(last: int | None, step: Step) -> int:
    if last is not None and step.index <= last:
        raise ValueError(f"step {step.index} came after step {last}")
    return step.index


@dataclass(frozen=True, slots=True)
class _Saved:
    """How much of a request is in the database: its row's id (None: no row) and its events."""

    request_id: str | None = None
    num_events: int = 0


class StoreRecorder:
    """The `Recorder` of an open store: queues events for the writer, again after a failure."""

    def __init__(self, writer: Writer, run_id: str, prompt: Prompt) -> None:
        self._writer = writer
        self._run_id = run_id
        self._prompt = prompt
        self._started_at = datetime.now(UTC)
        self._lock = threading.RLock()
        self._log = EventLog()
        self._end: tuple[RunStatus, str | None] | None = None
        self._saved = _Saved()
        self._written = _Saved()  # by the transaction under way
        self._queued = False
        self._error: str | None = None
        self._queue(FLUSH_S)  # the prompt is kept even if the engine never answers

    @property
    def error(self) -> str | None:
        return self._error

    @property
    def trace(self) -> Trace | None:
        with self._lock:
            return self._log.trace

    def append(self, event: Event) -> None:
        with self._lock:
            if self._end is not None:
                raise ValueError("the request was finished already")
            self._log.append(event)
            if not self._queued:
                self._queue(FLUSH_S)

    def finish(self, status: RunStatus, *, error: str | None = None) -> None:
        with self._lock:
            self._end = (status, error)
            future = self._queue()
        future.result()

    def _queue(self, within_s: float = 0.0) -> Future[None]:
        future = self._writer.submit(self._write, within_s=within_s)
        self._queued = True
        future.add_done_callback(self._committed)
        return future

    def _write(self, cursor: DuckDBPyConnection) -> None:
        """Write what is not saved yet; `_saved` moves only with the commit."""
        with self._lock:
            events, end = tuple(self._log.events), self._end
        request_id = self._saved.request_id
        if request_id is None:
            request_id = uuid.uuid4().hex  # until the engine names it
            insert_request(cursor, request_id, self._run_id, self._prompt, self._started_at)
        request_id = write_events(
            cursor, request_id, self._started_at, events[self._saved.num_events :]
        )
        if end is not None:
            end_request(cursor, request_id, fold(events) if events else None, *end)
        self._written = _Saved(request_id, len(events))

    def _committed(self, future: Future[None]) -> None:
        """After the commit, on the writer's thread and so before the next `_write`."""
        failure = future.exception()
        with self._lock:
            self._queued = False
            self._error = None if failure is None else str(failure)
            if failure is None:
                self._saved = self._written
                if len(self._log.events) > self._saved.num_events:
                    self._queue_rest()

    def _queue_rest(self) -> None:
        try:
            self._queue(FLUSH_S)
        except StoreError as closed:
            self._error = str(closed)

"""Handing runs to the app that owns the database, over its ingest route."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import httpx

from specviz.config import Prompt, Run, RunStatus
from specviz.errors import StoreError
from specviz.store.recorder import EventLog
from specviz.store.run_json import RecordedRequest, recording_to_dict
from specviz.trace import Event, Trace

INGEST_ROUTE = "/api/ingest"


def post_run(
    url: str, run: Run, requests: Sequence[RecordedRequest], *, timeout_s: float = 30.0
) -> None:
    """Give a finished run to the app at `url`; one that it has already stays as it is.

    Raises StoreError if nothing answers there or the app refuses it.
    """
    try:
        response = httpx.post(
            url.rstrip("/") + INGEST_ROUTE,
            json=recording_to_dict(run, requests),
            timeout=timeout_s,
        )
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise StoreError(
            f"Run {run.run_id} could not be handed to the specviz app at {url} "
            f"({str(error) or type(error).__name__}): check that the app is running."
        ) from error
    if response.status_code != httpx.codes.OK:
        raise StoreError(
            f"The specviz app at {url} did not take run {run.run_id}: {_reason(response)}"
        )


class RemoteStore:
    """A `RunSink` that keeps runs in memory and posts each to the app when it is finished."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._runs: dict[str, tuple[Run, list[RemoteRecorder]]] = {}

    def start_run(self, run: Run) -> None:
        self._runs[run.run_id] = (run, [])

    def recorder(self, run_id: str, prompt: Prompt) -> RemoteRecorder:
        recorder = RemoteRecorder(prompt)
        self._runs[run_id][1].append(recorder)
        return recorder

    def finish_run(self, run_id: str, status: RunStatus, *, error: str | None = None) -> None:
        """Post the run. Raises StoreError; the run is kept, so that this may be called again."""
        run, recorders = self._runs[run_id]
        run = replace(run, status=status, finished_at=datetime.now(UTC), error=error)
        post_run(self._url, run, [recorder.recorded() for recorder in recorders])
        del self._runs[run_id]


class RemoteRecorder:
    """A `Recorder` that only remembers; nothing can fail before the run is posted."""

    def __init__(self, prompt: Prompt) -> None:
        self._prompt = prompt
        self._started_at = datetime.now(UTC)
        self._log = EventLog()
        self._end: tuple[RunStatus, str | None] = (RunStatus.PARTIAL, None)

    @property
    def error(self) -> str | None:
        return None

    @property
    def trace(self) -> Trace | None:
        return self._log.trace

    def append(self, event: Event) -> None:
        self._log.append(event)

    def finish(self, status: RunStatus, *, error: str | None = None) -> None:
        self._end = (status, error)

    def recorded(self) -> RecordedRequest:
        status, error = self._end
        events = tuple(self._log.events)
        return RecordedRequest(self._prompt, events, status, self._started_at, error)


def _reason(response: httpx.Response) -> str:
    """What the app says in its JSON, else the start of whatever answered."""
    try:
        return str(response.json()["error"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {response.status_code} {response.text[:200]}".strip()

"""Runs recorded here and stored by a running app: the client of `/api/ingest`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from specviz.config import Prompt, Run, RunStatus
from specviz.errors import SpecvizError, StoreError
from specviz.remote.app import call
from specviz.remote.token import authorization
from specviz.store.runs.recorder import EventLog
from specviz.store.runs.run_json import RecordedRequest, recording_to_dict
from specviz.trace import Event, Trace


def post_run(
    url: str,
    run: Run,
    requests: Sequence[RecordedRequest],
    *,
    token: str | None = None,
    secret: str | None = None,
) -> bool:
    """Store a finished run in the app at `url`; False if it was there already and stays as it is.

    The token is that of the environment unless one is given. Raises UsageError for a token that
    cannot be sent, StoreError if nothing answers or the app refuses the run.
    """
    authorization(token)  # a token that cannot be sent is the caller's mistake, not the app's
    recording = recording_to_dict(run, requests)
    try:
        answer = call(url, "POST", "/api/ingest", token=token, secret=secret, json=recording)
    except SpecvizError as error:
        raise StoreError(f"Run {run.run_id} was not stored: {error}") from error
    return bool(answer["stored"])


class RemoteStore:
    """A `RunSink` that keeps runs in memory and posts each to the app when it is finished."""

    def __init__(self, url: str, secret: str | None = None) -> None:
        self._url = url
        self._secret = secret
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
        requests = [recorder.recorded() for recorder in recorders]
        post_run(self._url, run, requests, secret=self._secret)
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

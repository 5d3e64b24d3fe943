"""Handing runs to the app that owns the database, over its ingest route.

An app on another machine asks for a token: both sides have it in SPECVIZ_INGEST_TOKEN.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import httpx

from specviz.config import Prompt, Run, RunStatus
from specviz.errors import StoreError, UsageError
from specviz.store.runs.recorder import EventLog
from specviz.store.runs.run_json import RecordedRequest, recording_to_dict
from specviz.trace import Event, Trace

INGEST_ROUTE = "/api/ingest"
TOKEN = "SPECVIZ_INGEST_TOKEN"


def ingest_token() -> str | None:
    """The token of the environment, if one is set."""
    return os.environ.get(TOKEN, "").strip() or None


def authorization(token: str | None = None) -> dict[str, str]:
    """The header that lets a program in, with the token of the environment unless one is given.

    Raises UsageError for a token that cannot stand in a header.
    """
    token = token or ingest_token()
    if token is None:
        return {}
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError(f"{TOKEN} may have letters, digits and ASCII signs only, and no spaces.")
    return {"Authorization": f"Bearer {token}"}


def post_run(
    url: str,
    run: Run,
    requests: Sequence[RecordedRequest],
    *,
    token: str | None = None,
    timeout_s: float = 30.0,
) -> bool:
    """Give a finished run to the app at `url`; False if the app has it, where it stays as it is.

    The token is that of the environment unless one is given. Raises StoreError if nothing answers
    there or the app refuses it, UsageError for a token that cannot be sent.
    """
    try:
        response = httpx.post(
            url.rstrip("/") + INGEST_ROUTE,
            json=recording_to_dict(run, requests),
            headers=authorization(token),
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
    return bool(response.json()["stored"])


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

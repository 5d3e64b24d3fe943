"""One request, answered by an engine and stored as it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from specviz.config import Prompt, Run, RunStatus
from specviz.engines.base import Engine
from specviz.errors import SpecvizError
from specviz.store import RunSink
from specviz.trace import Event


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended; `error` is a sentence for the user, also when storing failed."""

    status: RunStatus
    error: str | None = None


async def answer(
    engine: Engine, run: Run, prompt: Prompt, sink: RunSink, on_event: Callable[[Event], None]
) -> Outcome:
    """Run one request, hand every event to `on_event` and to the store, and return how it ended.

    Errors of the engine and the store end up in the outcome: what arrived is kept. A cancelled
    task is stored as cancelled before CancelledError goes on.
    """
    try:
        sink.start_run(run)
    except SpecvizError as error:
        return Outcome(RunStatus.FAILED, str(error))
    recorder = sink.recorder(run.run_id, prompt)
    emitted = False
    outcome = Outcome(RunStatus.FINISHED)
    cancelled: asyncio.CancelledError | None = None
    try:
        async with aclosing(engine.generate(prompt, run.config.sampling)) as events:
            async for event in events:
                emitted = emitted or bool(getattr(event, "emitted", ()))
                recorder.append(event)
                on_event(event)
    except SpecvizError as error:
        outcome = Outcome(RunStatus.PARTIAL if emitted else RunStatus.FAILED, str(error))
    except asyncio.CancelledError as error:
        outcome, cancelled = Outcome(RunStatus.CANCELLED, "cancelled"), error
    try:
        recorder.finish(outcome.status, error=outcome.error)
        sink.finish_run(run.run_id, outcome.status, error=outcome.error)
    except SpecvizError as error:
        said = f"{outcome.error} {error}" if outcome.error else str(error)
        outcome = Outcome(outcome.status, said)
    if cancelled is not None:
        raise cancelled
    return outcome


def store_failure(run: Run, prompt: Prompt, sink: RunSink, error: str) -> str:
    """Store a run whose request was never sent; returns the sentence to show."""
    try:
        sink.start_run(run)
        sink.recorder(run.run_id, prompt).finish(RunStatus.FAILED, error=error)
        sink.finish_run(run.run_id, RunStatus.FAILED, error=error)
    except SpecvizError as store_error:
        return f"{error} (It could not be stored either: {store_error})"
    return error

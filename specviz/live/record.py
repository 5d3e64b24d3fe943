"""One request, answered by an engine and stored as it goes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from specviz.config import Prompt, Run, RunStatus
from specviz.engines.base import Engine
from specviz.errors import SpecvizError
from specviz.store import Recorder, RunSink
from specviz.trace import Channel, Event, Trace

MAX_REASON = 300
"""Characters of an unexpected error's own words."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a request ended; `error` is a sentence for the user, also when storing failed."""

    status: RunStatus
    error: str | None = None


async def answer(
    engine: Engine, run: Run, prompt: Prompt, sink: RunSink, on_event: Callable[[Event], None]
) -> Outcome:
    """Run one request, hand every event to `on_event` and to the store, and return how it ended.

    Whatever is raised, recorder and run are ended and what arrived is kept. Errors end up in the
    outcome; those that are not meant for users are defects, and the log has the details. A
    cancelled task is stored as cancelled before CancelledError goes on.
    """
    try:
        sink.start_run(run)
    except SpecvizError as error:
        return Outcome(RunStatus.FAILED, str(error))
    emitted = False
    outcome = Outcome(RunStatus.FINISHED)
    stopped: BaseException | None = None
    recorder: Recorder | None = None
    try:
        recorder = sink.recorder(run.run_id, prompt)
        async with aclosing(engine.generate(prompt, run.config.sampling)) as events:
            async for event in events:
                emitted = emitted or bool(getattr(event, "emitted", ()))
                recorder.append(event)
                on_event(event)
    except Exception as error:
        status = RunStatus.PARTIAL if emitted else RunStatus.FAILED
        outcome = Outcome(status, _sentence(error))
    except BaseException as error:  # cancelled, or the process is to end
        outcome, stopped = Outcome(RunStatus.CANCELLED, "cancelled"), error
    if recorder is not None:
        if outcome.status is RunStatus.FINISHED and recorder.trace is not None:
            outcome = Outcome(RunStatus.FINISHED, why_no_answer(recorder.trace))
        outcome = _ended(recorder.finish, outcome)
    outcome = _ended(partial(sink.finish_run, run.run_id), outcome)
    if stopped is not None:
        raise stopped
    return outcome


def why_no_answer(trace: Trace) -> str | None:
    """A sentence where a finished answer has no text, None where it has.

    A model may end at once, but nobody should take that for a success unseen.
    """
    if trace.text:
        return None
    channels = {token.channel for token in trace.emitted if token.text}
    if Channel.REFUSAL in channels:
        return "The answer has no text: the model refused, in the server's words for a refusal."
    if Channel.TOOL_CALL in channels:
        return "The answer has no text: the model called a tool instead."
    if Channel.REASONING not in channels:
        return "The answer has no text: the model ended it at once."
    if trace.finish_reason == "length":
        return "The answer has no text: thinking used up the output tokens, so allow more of them."
    return "The answer has no text: the model ended it after thinking."


def _ended(finish: Callable[..., None], outcome: Outcome) -> Outcome:
    """`outcome`, after it was stored with `finish`, with the reason if that failed."""
    try:
        finish(outcome.status, error=outcome.error)
    except Exception as error:
        said = _sentence(error)
        if outcome.error and said not in outcome.error:
            said = f"{outcome.error} {said}"
        return Outcome(outcome.status, said)
    return outcome


def _sentence(error: Exception) -> str:
    if isinstance(error, SpecvizError):
        return str(error)
    _log.error("A request ended in an unexpected error.", exc_info=error)
    return f"{type(error).__name__}: {str(error)[:MAX_REASON]} (see the log)"


def store_failure(run: Run, prompt: Prompt, sink: RunSink, error: str) -> str:
    """Store a run whose request was never sent; returns the sentence to show."""
    try:
        sink.start_run(run)
        sink.recorder(run.run_id, prompt).finish(RunStatus.FAILED, error=error)
        sink.finish_run(run.run_id, RunStatus.FAILED, error=error)
    except SpecvizError as store_error:
        return f"{error} (It could not be stored either: {store_error})"
    return error

"""One prompt on up to four arms, as a background job that any number of browsers may watch.

An `ArmLog` only grows: each watcher remembers how many events it has seen. It is written by
the job's thread and read by any number of WebSockets.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from specviz.analysis.compare.reasons import another_place
from specviz.analysis.lossless import Comparison, compare
from specviz.analysis.metrics import Metrics, summarise
from specviz.analysis.readout import speedup
from specviz.config import Prompt, RunConfig, RunStatus
from specviz.live.cancellation import Cancellation
from specviz.methods import Method
from specviz.trace import Event, Trace, fold
from specviz.wire import event_to_dict

MAX_ARMS = 4


class Phase(StrEnum):
    """The state of an arm; the last four are final."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PARTIAL = "partial"

    @property
    def is_final(self) -> bool:
        return self in (Phase.FINISHED, Phase.FAILED, Phase.CANCELLED, Phase.PARTIAL)


@dataclass(slots=True)
class ArmLog:
    """One arm of a job: its configuration, its events so far and its phase."""

    run_id: str
    config: RunConfig
    phase: Phase = Phase.WAITING
    note: str | None = None
    events: list[Event] = field(default_factory=list)
    encoded: list[str] = field(default_factory=list)
    earlier: tuple[float, ...] = ()
    """Speed-ups of this arm in earlier jobs that asked for the same."""

    def append(self, event: Event) -> None:
        """Add an event. `encoded` is what a browser gets, encoded once for all of them."""
        self.events.append(event)
        self.encoded.append(json.dumps(event_to_dict(event)))

    def end(self, status: RunStatus, note: str | None) -> None:
        self.note = note
        self.phase = Phase(status.value)

    def trace(self) -> Trace | None:
        """What arrived so far; None before the engine has taken the request."""
        events = self.events[: len(self.events)]
        return fold(events) if events else None

    def metrics(self) -> Metrics | None:
        trace = self.trace()
        return summarise(trace) if trace else None


class Job:
    """Arms that answer the same prompt, one after another (fair on one machine) or all at once."""

    def __init__(self, job_id: str, prompt: Prompt, arms: list[ArmLog], *, at_once: bool) -> None:
        self.job_id = job_id
        self.prompt = prompt
        self.arms = arms
        self.asked = tuple(arm.config for arm in arms)
        self.speedups: list[float | None] = []  # of the arms, once it is done
        self.at_once = at_once
        self.done = threading.Event()
        self.cancellation = Cancellation()


def finished_baseline(arms: Sequence[ArmLog]) -> ArmLog | None:
    """The finished baseline to compare with, if there is one."""
    for arm in arms:
        if arm.config.method is Method.BASELINE and arm.phase is Phase.FINISHED:
            return arm
    return None


def baseline_to_time(arm: ArmLog, arms: Sequence[ArmLog]) -> tuple[ArmLog | None, str | None]:
    """The finished baseline of the arm's own engine and machine, else why there is none."""
    reason = None
    for baseline in arms:
        if baseline.config.method is Method.BASELINE and baseline.phase is Phase.FINISHED:
            found = another_place(baseline.config, arm.config)
            if found is None:
                return baseline, None
            reason = reason or found
    return None, reason


def speedups(arms: Sequence[ArmLog]) -> list[float | None]:
    """Each finished arm's over plain decoding of the same place, None where there is none."""
    found: list[float | None] = []
    for arm in arms:
        baseline, _ = baseline_to_time(arm, arms)
        reference = baseline.metrics() if baseline else None
        metrics = arm.metrics() if reference and arm.phase is Phase.FINISHED else None
        found.append(speedup(metrics, reference) if metrics and reference else None)
    return found


def comparisons(arms: Sequence[ArmLog]) -> list[Comparison]:
    """Every other finished arm's output against the finished baseline's."""
    baseline = finished_baseline(arms)
    reference = baseline.trace() if baseline else None
    if reference is None:
        return []
    traces = [arm.trace() for arm in arms if arm is not baseline and arm.phase is Phase.FINISHED]
    found = [compare(reference, trace) for trace in traces if trace is not None]
    return [comparison for comparison in found if comparison is not None]

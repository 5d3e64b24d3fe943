"""A stored trace as an engine: the same events, at the recorded speed or faster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator

from specviz.config import Prompt, Sampling
from specviz.trace import Event, RequestFinished, RequestStarted, Trace


class ReplayEngine:
    """Yields the events of `trace`; `speed` 2.0 is twice as fast, None is as fast as possible."""

    def __init__(self, trace: Trace, speed: float | None = 1.0) -> None:
        self._trace = trace
        self._speed = speed

    async def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Event, None]:
        """Replay the trace; `prompt` and `sampling` are ignored, as both were recorded."""
        clock_ms = 0.0
        for event in events_of(self._trace):
            due_ms = _due_ms(event, clock_ms)
            if self._speed is not None and due_ms > clock_ms:
                await asyncio.sleep((due_ms - clock_ms) / 1000 / self._speed)
            else:
                await asyncio.sleep(0)  # let the consumer see every event
            clock_ms = due_ms
            yield event

    async def close(self) -> None:
        """Nothing to close."""


def events_of(trace: Trace) -> Iterator[Event]:
    """The events that fold into `trace`."""
    yield RequestStarted(trace.request_id, trace.fidelity)
    yield from trace.steps
    if trace.finish_reason is not None and trace.e2el_ms is not None:
        yield RequestFinished(
            trace.prompt_token_ids,
            trace.ttft_ms,
            trace.e2el_ms,
            trace.finish_reason,
            trace.extra_bytes,
            trace.totals,
        )


def _due_ms(event: Event, clock_ms: float) -> float:
    if isinstance(event, RequestFinished):
        return event.e2el_ms
    return getattr(event, "elapsed_ms", clock_ms)

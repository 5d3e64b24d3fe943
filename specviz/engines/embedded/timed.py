"""The embedded engine as a benchmark uses it: samples instead of events."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from specviz.analysis.metrics import count_judged
from specviz.analysis.step_time.step_time import lane_times
from specviz.config import Prompt, RunConfig, Sampling
from specviz.engines.embedded.engine import EmbeddedEngine
from specviz.errors import RequestRefused
from specviz.sample import Sample
from specviz.trace import Trace, fold

_DECODING = ThreadPoolExecutor(1, thread_name_prefix="embedded-timed")
"""One thread decodes for all engines: torch would start new workers for every other thread."""


class TimedEmbedded:
    """An embedded engine for benchmarks. It answers one request at a time: others queue, and their
    times include the wait. `extra_bytes` is the memory the method held beyond plain decoding."""

    def __init__(self, engine: EmbeddedEngine, config: RunConfig) -> None:
        self._engine = engine
        self._is_chain = config.options.get("shape", "chain") == "chain"
        self.extra_bytes = 0

    async def sample(self, prompt: Prompt, sampling: Sampling) -> Sample:
        """Answer one request. Raises RequestRefused for a prompt that does not fit the model."""
        sent, stop = time.perf_counter(), threading.Event()
        answer = _DECODING.submit(self._answer, prompt, sampling, sent, stop)
        try:
            return await asyncio.wrap_future(answer)
        except asyncio.CancelledError:
            stop.set()  # the model is free again after the current step
            raise

    async def counters(self) -> None:
        """None: no server keeps counts of its own."""

    async def prefix_caching(self) -> bool:
        """False: every prompt is prefilled from its first token."""
        return False

    async def close(self) -> None:
        await self._engine.close()

    def _answer(
        self, prompt: Prompt, sampling: Sampling, sent: float, stop: threading.Event
    ) -> Sample:
        waited_ms = (time.perf_counter() - sent) * 1000
        events = []
        for event in self._engine.events(prompt, sampling):
            if stop.is_set():
                raise RequestRefused("The request was cancelled.")
            events.append(event)
        trace = fold(events)
        self.extra_bytes = max(
            self.extra_bytes, trace.extra_bytes.total if trace.extra_bytes else 0
        )
        return sample_of(trace, waited_ms, is_chain=self._is_chain)


def sample_of(trace: Trace, waited_ms: float = 0.0, *, is_chain: bool = True) -> Sample:
    """A finished trace as a sample; the time the request waited is added to its times."""
    assert trace.ttft_ms is not None and trace.e2el_ms is not None
    drafting = [step for step in trace.steps if step.drafted]
    emitting = [step for step in trace.steps if step.emitted]
    return Sample(
        request_id=trace.request_id,
        fidelity=trace.fidelity,
        text=trace.text,
        finish_reason=trace.finish_reason or "",
        ttft_ms=trace.ttft_ms + waited_ms,
        e2el_ms=trace.e2el_ms + waited_ms,
        chunk_ms=tuple(step.elapsed_ms + waited_ms for step in emitting),
        chunk_tokens=tuple(len(step.emitted) for step in emitting),
        token_ids=trace.token_ids,
        output_tokens=len(trace.token_ids),
        prompt_tokens=len(trace.prompt_token_ids),
        per_step_accepted=tuple(step.num_accepted for step in drafting),
        per_step_drafted=tuple(len(step.drafted) for step in drafting),
        is_chain=is_chain,
        num_judged_tokens=None if is_chain else count_judged(drafting),
        lanes=lane_times(trace.steps),
        ttfo_ms=trace.ttft_ms + waited_ms if trace.text else None,
    )

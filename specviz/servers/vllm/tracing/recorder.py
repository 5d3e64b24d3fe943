"""Follows the traced requests through the engine's steps and writes one line per step.

A worker runs `execute_model` (forward), `_sample` (verification) and `propose_draft_token_ids`
(the next draft) one after the other in one thread; the recorder wraps each of them. What
is drafted at the end of one step is judged in the next. `lines` says what a line holds.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from specviz.servers.vllm.scheduler.scheduler import ALLOWED
from specviz.servers.vllm.tracing.drafter import drafted_probs, watched_probs
from specviz.servers.vllm.tracing.keys import PREFIX, key_of
from specviz.servers.vllm.tracing.lines import LOOKUPS, NOTHING, Judged, StepRecord, line
from specviz.servers.vllm.tracing.spool import SpoolWriter, failure
from specviz.servers.vllm.tracing.verdicts import SamplerView, judged_rows

logger = logging.getLogger("vllm.specviz")


@dataclass
class TracedRequest:
    """One sequence under way. `draft_*` belong to the draft that the next step will judge."""

    key: str
    step: int = 0
    last_line_s: float | None = None
    draft_ids: list[int] = field(default_factory=list)
    draft_probs: list[float] | None = None
    draft_ms: float | None = None


class Recorder:
    """The hooks of one worker's model runner."""

    def __init__(self, runner: Any, writer: SpoolWriter) -> None:
        speculative = runner.speculative_config
        self._runner = runner
        self._writer = writer
        self._requests: dict[str, TracedRequest] = {}
        self._view: SamplerView | None = None
        self._step_began_s = 0.0
        self._allowed: dict[str, tuple[int, str]] = {}  # of this step, where there is a policy
        self._on_cpu = runner.device.type == "cpu"  # elsewhere work is asynchronous: no times
        self._is_lookup = speculative is not None and speculative.method in LOOKUPS

    def around_execute_model(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Note when the step began and which requests are over."""

        @functools.wraps(original)
        def execute_model(scheduler_output: Any, *args: Any, **kwargs: Any) -> Any:
            if self._requests:
                for request_id in scheduler_output.finished_req_ids:
                    if request := self._requests.pop(request_id, None):
                        self._writer.finish(request.key)
            self._allowed = getattr(scheduler_output, ALLOWED, {})
            self._step_began_s = time.monotonic()
            return original(scheduler_output, *args, **kwargs)

        return execute_model

    def around_sample(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Watch the sampler and write the lines of this step."""

        @functools.wraps(original)
        def sample(*args: Any, **kwargs: Any) -> Any:
            rows = self._traced_rows()
            if not rows:
                return original(*args, **kwargs)
            self._view = view = SamplerView()
            try:
                output = original(*args, **kwargs)
            finally:
                self._view = None
            self._guarded(self._record, rows, view, output.sampled_token_ids)
            return output

        return sample

    def around_propose(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Note how long drafting took and how sure the drafter was."""

        @functools.wraps(original)
        def propose(*args: Any, **kwargs: Any) -> Any:
            rows = self._traced_rows()
            if not rows:
                return original(*args, **kwargs)
            greedy = [row for row in rows if self._is_greedy(row)]
            began_s = time.monotonic()
            batch_size = len(self._runner.input_batch.req_ids)
            with watched_probs(self._runner.drafter, greedy, batch_size) as seen:
                drafted = original(*args, **kwargs)
            draft_ms = self._elapsed_ms(began_s)
            for request in rows.values():
                request.draft_ms, request.draft_probs = draft_ms, None
            if seen:
                self._guarded(self._note_draft, rows, greedy, seen, drafted)
            return drafted

        return propose

    def see_rejection_sample(self, _result: Any, *args: Any, **_kwargs: Any) -> None:
        """Keep the rejection sampler's arguments."""
        if view := self._view:
            view.draft_token_ids, view.num_draft_tokens = args[0], args[1]
            view.draft_probs, view.target_logits = args[4], args[5]

    def see_sample_recovered_tokens(self, _result: Any, *args: Any, **_kwargs: Any) -> None:
        """Keep the target's processed probabilities, which the sampler has computed anyway."""
        if view := self._view:
            view.target_probs = args[5]

    def see_generate_uniform_probs(self, result: Any, *_args: Any, **_kwargs: Any) -> None:
        """Keep the random numbers."""
        if view := self._view:
            view.uniform = result

    def _traced_rows(self) -> dict[int, TracedRequest]:
        """Batch position of every request that asked for a trace."""
        rows = {}
        for row, request_id in enumerate(self._runner.input_batch.req_ids):
            if PREFIX in request_id and (key := key_of(request_id)):
                if request_id not in self._requests:
                    self._requests[request_id] = TracedRequest(key)
                rows[row] = self._requests[request_id]
        return rows

    def _is_greedy(self, row: int) -> bool:
        batch = self._runner.input_batch
        return batch.req_ids[row] in batch.greedy_reqs

    def _guarded(self, action: Callable[..., None], rows: Any, *args: Any) -> None:
        """Run `action`; its failure costs the traces a step, not the server its life."""
        try:
            action(rows, *args)
        except Exception as error:
            logger.exception("specviz could not trace this step")
            failed = failure(error)
            for request in rows.values():
                self._writer.append(request.key, lambda: failed)

    def _note_draft(self, rows: Any, greedy: list[int], seen: list[Any], drafted: Any) -> None:
        probs = drafted_probs(seen, drafted, greedy)
        for row, ids, row_probs in zip(greedy, drafted[greedy].tolist(), probs, strict=True):
            rows[row].draft_ids, rows[row].draft_probs = ids, row_probs

    def _record(self, rows: dict[int, TracedRequest], view: SamplerView, output: Any) -> None:
        now_s = time.monotonic()
        verify_ms = self._elapsed_ms(self._step_began_s)
        # A partial prefill emits nothing: the runner throws its sample away.
        discarded = self._runner.discard_request_mask.np
        emitting = [row for row in rows if not discarded[row]]
        drafting = [row for row in emitting if view.num_draft_tokens and view.num_draft_tokens[row]]
        judged = dict(zip(drafting, judged_rows(view, drafting), strict=True)) if drafting else {}
        for row, sampled in zip(emitting, output[emitting].tolist(), strict=True):
            request = rows[row]
            record = self._step_record(request, row, judged.get(row), sampled, now_s, verify_ms)
            self._writer.append(request.key, functools.partial(line, record))
            request.step += 1
            request.last_line_s = now_s

    def _step_record(
        self,
        request: TracedRequest,
        row: int,
        judged: Judged | None,
        sampled: list[int],
        now_s: float,
        verify_ms: float | None,
    ) -> StepRecord:
        wall_s = None if request.last_line_s is None else now_s - request.last_line_s
        return StepRecord(
            step=request.step,
            t_ms=round(now_s * 1e3, 3),
            sampled=sampled,
            vocab_size=self._runner.input_batch.vocab_size,
            is_greedy=self._is_greedy(row),
            judged=judged or NOTHING,
            drafter_probs=self._drafter_probs(request, judged) if judged else None,
            draft_ms=request.draft_ms if judged else None,
            verify_ms=verify_ms,
            wall_ms=None if wall_s is None else round(wall_s * 1e3, 3),
            allowed=self._allowed.get(self._runner.input_batch.req_ids[row]),
        )

    def _drafter_probs(self, request: TracedRequest, judged: Judged) -> list[float] | None:
        """Known for lookups, and for the draft that was watched if it is the one now judged."""
        count = len(judged.drafted)
        if self._is_lookup:
            return [1.0] * count
        if request.draft_probs and request.draft_ids[:count] == judged.drafted:
            return request.draft_probs[:count]
        return None

    def _elapsed_ms(self, since_s: float) -> float | None:
        return round((time.monotonic() - since_s) * 1e3, 3) if self._on_cpu else None

"""Follows the traced requests through the steps of vLLM's V2 model runner.

A worker runs `execute_model` (forward), `sample` (which verifies in `RejectionSampler._verify`,
in chunks if the vocabulary is large) and the speculator's `propose`, one after the other in one
thread. The recorder wraps each. In the step it only issues work; the spool's thread waits for the
copies and makes the lines. `lines` says what they hold; `t_ms` is when a line was made, soon after
its step.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from specviz.servers.vllm.scheduler.scheduler import ALLOWED
from specviz.servers.vllm.tracing.keys import PREFIX, key_of
from specviz.servers.vllm.tracing.lines import LOOKUPS, NOTHING, Json, StepRecord, line
from specviz.servers.vllm.tracing.spool import SpoolWriter, failure
from specviz.servers.vllm.tracing.v2.device import Copy, Device, Mark
from specviz.servers.vllm.tracing.v2.gathered import Gathered, Verification, gather
from specviz.servers.vllm.tracing.v2.rule import Rule, Sampling, judged

logger = logging.getLogger("vllm.specviz")


@dataclass
class TracedRequest:
    """One sequence under way. `step` and `last` belong to the spool's thread, `drafting` is when
    the draft that the next step will judge was made."""

    key: str
    step: int = 0
    last: Mark | None = None
    drafting: tuple[Mark, Mark] | None = None


@dataclass(frozen=True)
class Row:
    """A traced request in one step: its position in the batch, the slot of its state in the runner,
    and the K that the policy allowed for the draft that this step verifies, with its reason."""

    position: int
    state: int
    request: TracedRequest
    allowed: tuple[int, str] | None


@dataclass
class View:
    """What `_verify` was seen to do in this step, for the requests of `rows`, in batch order."""

    rows: list[Row]
    parts: list[Gathered] = field(default_factory=list)
    has_draft_logits: bool = False
    is_broken: bool = False


@dataclass(frozen=True)
class StepCopy:
    """The numbers of one step on their way to the host, and when it began and ended."""

    copy: Copy
    began: Mark
    ended: Mark

    @cached_property
    def numbers(self) -> list[Any]:
        """Nested lists: number of sampled tokens, their ids, and floats, ints and lengths of the
        drafts if there were any. Waits for the copies."""
        return [tensor.tolist() for tensor in self.copy.arrived()]


class Recorder:
    """The hooks of one worker's V2 model runner."""

    def __init__(self, runner: Any, writer: SpoolWriter, device: Device, rule: Rule) -> None:
        speculative = runner.vllm_config.speculative_config
        self._runner = runner
        self._writer = writer
        self._device = device
        self._rule = rule
        self._is_lookup = speculative is not None and speculative.method in LOOKUPS
        self._requests: dict[str, TracedRequest] = {}
        self._view: View | None = None
        self._began: Mark = None
        self._allowed: dict[str, tuple[int, str]] = {}  # of this step, where there is a policy

    def around_execute_model(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Note who asks for a trace, who is done, and when the step began."""

        @functools.wraps(original)
        def execute_model(scheduler_output: Any, *args: Any, **kwargs: Any) -> Any:
            for new in scheduler_output.scheduled_new_reqs:
                if PREFIX in new.req_id and (key := key_of(new.req_id)):
                    self._requests.setdefault(new.req_id, TracedRequest(key))
            if self._requests:
                for request_id in scheduler_output.finished_req_ids:
                    if request := self._requests.pop(request_id, None):
                        self._writer.finish(request.key)
                self._allowed = getattr(scheduler_output, ALLOWED, {})
                self._began = self._device.mark()
            return original(scheduler_output, *args, **kwargs)

        return execute_model

    def around_sample(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Watch the verification and send off what it gave."""

        @functools.wraps(original)
        def sample(hidden_states: Any, input_batch: Any, *args: Any, **kwargs: Any) -> Any:
            rows = self._rows(input_batch)
            if not rows:
                return original(hidden_states, input_batch, *args, **kwargs)
            self._view = view = View(rows)
            try:
                result = original(hidden_states, input_batch, *args, **kwargs)
            finally:
                self._view = None
            self._guarded(view, self._send, result)
            return result

        return sample

    def around_verify(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Gather what the rejection sampler judged by."""

        @functools.wraps(original)
        def verify(*args: Any) -> Any:
            result = original(*args)
            if view := self._view:
                self._guarded(view, self._gather, args, result[0])
            return result

        return verify

    def around_propose(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Note how long drafting takes."""

        @functools.wraps(original)
        def propose(input_batch: Any, *args: Any, **kwargs: Any) -> Any:
            rows = self._rows(input_batch)
            if not rows:
                return original(input_batch, *args, **kwargs)
            began = self._device.mark()
            drafted = original(input_batch, *args, **kwargs)
            drafting = began, self._device.mark()
            for row in rows:
                row.request.drafting = drafting
            return drafted

        return propose

    def _rows(self, input_batch: Any) -> list[Row]:
        """The traced requests of the batch, in its order."""
        if not self._requests:
            return []
        states = input_batch.idx_mapping_np
        return [
            Row(position, int(states[position]), request, self._allowed.get(request_id))
            for position, request_id in enumerate(input_batch.req_ids)
            if (request := self._requests.get(request_id))
        ]

    def _guarded(self, view: View, action: Callable[..., None], *args: Any) -> None:
        """Run `action`; its failure costs the traces a step, not the server its life."""
        if view.is_broken:
            return
        try:
            action(view, *args)
        except Exception as error:
            view.is_broken = True
            logger.exception("specviz could not trace this step")
            failed = failure(error)
            for row in view.rows:
                self._writer.append(row.request.key, lambda: failed)

    def _gather(self, view: View, args: tuple[Any, ...], processed_logits: Any) -> None:
        """`args` are those of `_verify`; see `seam.VERIFY_ARGUMENTS`."""
        draft_logits, draft_sampled, positions, starts, states, states_np = args[1:7]
        traced = {row.state for row in view.rows}
        wanted = [position for position, state in enumerate(states_np) if int(state) in traced]
        if not wanted:
            return
        seen = Verification(
            processed_logits, draft_logits, draft_sampled, args[10], positions, starts, states,
            self._runner.sampler.sampling_states.temperature.gpu,
        )  # fmt: skip
        view.has_draft_logits = draft_logits is not None
        index, k = self._device.index(wanted), self._runner.num_speculative_steps
        view.parts.append(gather(seen, index, k, blockwise=self._rule.is_blockwise))

    def _send(self, view: View, result: tuple[Any, Any, Any]) -> None:
        ended = self._device.mark()  # before the copy, so that it has passed when the copy has
        output, num_sampled, _ = result
        index = self._device.index([row.position for row in view.rows])
        tensors = [num_sampled[index], output.sampled_token_ids[index], *_columns(view.parts)]
        step = StepCopy(self._device.copy(tensors), self._began, ended)
        for at, row in enumerate(view.rows):
            sampling, drafting = self._sampling(row.state, view), row.request.drafting
            make = functools.partial(self._line, row, step, at, sampling, drafting)
            self._writer.append(row.request.key, make)

    def _sampling(self, state: int, view: View) -> Sampling:
        states = self._runner.sampler.sampling_states
        return Sampling(
            temperature=float(states.temperature.np[state]),
            seed=int(states.seeds.np[state]),
            has_draft_logits=view.has_draft_logits,
            is_lookup=self._is_lookup,
        )

    def _line(
        self,
        row: Row,
        step: StepCopy,
        at: int,
        sampling: Sampling,
        drafting: tuple[Mark, Mark] | None,
    ) -> Json | None:
        """In the spool's thread. `at` is the request's row in the copies. None: a partial prefill,
        whose sample is thrown away."""
        num_sampled, sampled, *drafts = (column[at] for column in step.numbers)
        if not num_sampled:
            return None
        found, elapsed_ms = NOTHING, self._device.elapsed_ms
        if drafts and (length := drafts[2]) > 0:
            found = judged(self._rule, sampling, drafts[0][:length], drafts[1][:length])
        request = row.request
        last, request.last = request.last, step.ended
        record = StepRecord(
            step=request.step,
            t_ms=round(time.monotonic() * 1e3, 3),
            sampled=sampled[:num_sampled],
            vocab_size=self._runner.vocab_size,
            is_greedy=found.uniform is None,
            judged=found,
            draft_ms=round(elapsed_ms(*drafting), 3) if found.drafted and drafting else None,
            verify_ms=round(elapsed_ms(step.began, step.ended), 3),
            wall_ms=None if last is None else round(elapsed_ms(last, step.ended), 3),
            allowed=row.allowed,
        )
        request.step += 1
        return line(record)


def _columns(parts: list[Gathered]) -> list[Any]:
    """Floats, ints and lengths of all chunks, one after the other; nothing if none was judged."""
    import torch

    if not parts:
        return []
    columns = zip(*((part.floats, part.ints, part.lengths) for part in parts), strict=True)
    return [torch.cat(column) for column in columns]

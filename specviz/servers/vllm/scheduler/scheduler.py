"""The scheduler that a server with a policy uses: `--scheduler-cls`.

vLLM decides at the end of `schedule()` how long the drafts are that this step will make for the
next one. Here every request gets its own limit:

    drafting     the step drafts as many tokens as its most allowed request may use; where all
                 have 0, no draft is made (a draft model reads the new tokens, to be ready later)
    synchronous  drafts come back to the scheduler, which cuts each to its limit
    asynchronous the scheduler puts placeholders where drafts will be, which are cut instead

Written against vLLM 0.32 and 0.33. In these, `num_spec_tokens_to_schedule` and the schedule by
batch size (`num_speculative_tokens_per_batch_size`) are made for drafts of changing length.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

from specviz.errors import UsageError
from specviz.policy.file import read_policy
from specviz.policy.policy import Policy
from specviz.servers.vllm.scheduler.counts import CountsFile
from specviz.servers.vllm.scheduler.decision import Decider, Decision
from specviz.servers.vllm.tracing import spool
from specviz.servers.vllm.tracing.keys import PREFIX

logger = logging.getLogger("vllm.specviz")

POLICY_VARIABLE = "SPECVIZ_POLICY"
SCHEDULER = f"{__name__}.policy_scheduler"
"""What `--scheduler-cls` gets."""

ALLOWED = "specviz_allowed"
"""Attribute of a scheduler's output: of every traced request in the step, the K and the reason."""


def policy_scheduler(**arguments: Any) -> Any:
    """vLLM's scheduler for this configuration, following the policy in `SPECVIZ_POLICY`.

    Raises UsageError without a policy, or with one that was made for another K.
    """
    from vllm.v1.core.sched.async_scheduler import AsyncScheduler
    from vllm.v1.core.sched.scheduler import Scheduler

    config = arguments["vllm_config"]
    policy = policy_of(os.environ.get(POLICY_VARIABLE), config.num_speculative_tokens)
    base = AsyncScheduler if config.scheduler_config.async_scheduling else Scheduler
    logger.info("specviz's policy decides K, in vLLM's %s", base.__name__)
    return following(policy, base)(**arguments)


def policy_of(path: str | None, num_speculative_tokens: int) -> Policy:
    """The policy of this server, checked against its K; see `policy_scheduler`."""
    if not path:
        raise UsageError(f"Name the policy's file in {POLICY_VARIABLE}, or use another scheduler.")
    policy = read_policy(Path(path))
    policy.check_server(num_speculative_tokens)
    return policy


def following(policy: Policy, base: Any) -> Any:
    """A subclass of vLLM's `Scheduler` or `AsyncScheduler` that follows the policy."""

    class PolicyScheduler(base):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._decider = Decider(policy)
            self._counts = CountsFile(spool.open_folder())
            self._allowed: dict[str, Decision] = {}  # for the draft that each request has now
            self._adapts_draft = adapts_draft(self.vllm_config)
            # Drafts of changing length: vLLM then pads no new request to a draft of full length.
            most = self.scheduler_config.max_num_seqs
            full = [self.num_spec_tokens] * (most + 1)
            self.dynamic_sd_lookup: list[int] = self.dynamic_sd_lookup or full

        def _update_after_schedule(self, scheduler_output: Any) -> None:
            scheduled = scheduler_output.num_scheduled_tokens
            for request_id in scheduler_output.preempted_req_ids or ():
                self._allowed.pop(request_id, None)  # its draft is dropped
            setattr(scheduler_output, ALLOWED, self._traced(scheduled))
            for request_id in scheduler_output.finished_req_ids:
                self._decider.forget(request_id)
                self._allowed.pop(request_id, None)
            self._decide(scheduled)
            if self._adapts_draft and scheduled:
                scheduler_output.num_spec_tokens_to_schedule = min(
                    scheduler_output.num_spec_tokens_to_schedule,
                    max(self._allowed[request_id].k for request_id in scheduled),
                )
            super()._update_after_schedule(scheduler_output)
            self._cut(scheduled)  # the placeholders of asynchronous scheduling

        def update_draft_token_ids(self, draft_token_ids: Any) -> None:
            super().update_draft_token_ids(draft_token_ids)
            self._cut(draft_token_ids.req_ids)

        def _decide(self, request_ids: Any) -> None:
            if request_ids:
                self._decider.next_step(len(self.running))
            for request_id in request_ids:
                params = self.requests[request_id].sampling_params
                self._allowed[request_id] = self._decider.decide(request_id, params)
            self._counts.add(self._allowed[request_id].reason for request_id in request_ids)

        def _cut(self, request_ids: Any) -> None:
            for request_id in request_ids:
                request, decision = self.requests.get(request_id), self._allowed.get(request_id)
                if request and decision and len(request.spec_token_ids) > decision.k:
                    request.spec_token_ids = request.spec_token_ids[: decision.k]

        def _traced(self, request_ids: Any) -> dict[str, tuple[int, str]]:
            """What was allowed for the drafts that this step verifies: decided when they were made,
            in the step before, or earlier if the request had to wait. A prompt's chunk before
            left none."""
            return {
                request_id: (decision.k, decision.reason)
                for request_id in request_ids
                if PREFIX in request_id
                and not self.requests[request_id].is_prefill_chunk
                and (decision := self._allowed.get(request_id))
            }

    return PolicyScheduler


def adapts_draft(config: Any) -> bool:
    """Whether steps may draft fewer tokens than K in this server.

    Some drafters of the V1 runner insist on K, or draft all at once. With data parallelism ranks
    that draft different numbers would wait for each other for ever.
    """
    speculative = config.speculative_config
    if config.parallel_config.data_parallel_size > 1:
        return False
    if config.use_v2_model_runner:
        return True
    steps_through = speculative.method in ("draft_model", "eagle", "eagle3", "mtp")
    return speculative.method == "ngram" or (steps_through and not speculative.parallel_drafting)

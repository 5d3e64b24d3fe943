"""What a vLLM process accepts once it follows a policy.

vLLM refuses requests with `min_p` or `logit_bias` while it speculates (`SamplingParams`), and its
V1 runner leaves the code for both out. The policy answers them without drafts, so they are let in.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

from specviz.errors import UsageError
from specviz.servers.vllm.scheduler.scheduler import POLICY_VARIABLE, SCHEDULER
from specviz.servers.vllm.scheduler.wishes import why_refused


def install() -> None:
    """Prepare this process, if there is a policy. May be called repeatedly.

    Raises UsageError for a vLLM whose checks are not the known ones.
    """
    if not os.environ.get(POLICY_VARIABLE):
        return
    from vllm.config.scheduler import SchedulerConfig
    from vllm.sampling_params import SamplingParams

    if getattr(SamplingParams, "is_specviz", False):
        return
    if not hasattr(SamplingParams, "_validate_spec_decode"):
        raise UsageError("specviz's policies need vLLM 0.32 or 0.33: leave the policy out.")
    SamplingParams.is_specviz = True
    SamplingParams._validate_spec_decode = _validate
    SchedulerConfig.get_scheduler_cls = _insisting(SchedulerConfig.get_scheduler_cls)
    _keep_processors()


def _validate(params: Any, speculative_config: Any) -> None:
    """In the place of vLLM's own check: spec_k and category instead of min_p and logit_bias."""
    from vllm.exceptions import VLLMValidationError

    if speculative_config is None:
        return
    if reason := why_refused(params, speculative_config.num_speculative_tokens):
        raise VLLMValidationError(reason)


def _insisting(get_scheduler_cls: Any) -> Any:
    """Another scheduler would draft for `min_p`, and what came out would be wrong."""

    @functools.wraps(get_scheduler_cls)
    def get(config: Any) -> Any:
        if config.scheduler_cls != SCHEDULER:
            raise UsageError(
                f"{POLICY_VARIABLE} names a policy, so start vLLM with --scheduler-cls {SCHEDULER}."
            )
        return get_scheduler_cls(config)

    return get


def _keep_processors() -> None:
    """Let the V1 runner apply `min_p` and `logit_bias`, which it does to steps without a draft."""
    from vllm.v1.sample import logits_processor

    original = logits_processor.build_logitsprocs

    @functools.wraps(original)
    def build(config: Any, device: Any, is_pin_memory: bool, *args: Any, **kwargs: Any) -> Any:
        processors = original(config, device, is_pin_memory, *args, **kwargs)
        if config.speculative_config is None:
            return processors
        added = (
            logits_processor.MinPLogitsProcessor(config, device, is_pin_memory),
            logits_processor.LogitBiasLogitsProcessor(config, device, is_pin_memory),
        )
        return logits_processor.LogitsProcessors([*processors.all, *added])

    # The runner took the function over by name, if this process has imported it.
    for name in ("vllm.v1.sample.logits_processor", "vllm.v1.worker.gpu_model_runner"):
        if name in sys.modules:
            sys.modules[name].build_logitsprocs = build  # type: ignore[attr-defined]

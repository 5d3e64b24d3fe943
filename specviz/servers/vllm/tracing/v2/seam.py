"""Where the recorder hooks into vLLM's V2 model runner, and whether this server has it.

The arguments and results were read in 0.32 and 0.33, where they are the same. A server that differs
is left as it is: `SeamUnknown` says what was not found.
"""

from __future__ import annotations

import inspect
from typing import Any

from specviz.servers.vllm.tracing.spool import SpoolWriter
from specviz.servers.vllm.tracing.v2.device import device_of
from specviz.servers.vllm.tracing.v2.recorder import Recorder
from specviz.servers.vllm.tracing.v2.rule import Rule

VERIFY_ARGUMENTS = (
    "logits",
    "draft_logits",
    "draft_sampled",
    "pos",
    "cu_num_logits",
    "idx_mapping",
    "idx_mapping_np",
    "expanded_idx_mapping",
    "expanded_local_pos",
    "seq_lens_upper_bound_np",
    "verify_draft_sampled",
)
SAMPLE_ARGUMENTS = ("hidden_states", "input_batch", "grammar_output")


class SeamUnknown(Exception):
    """This server's internals are not the ones that the hooks were written for."""


def is_v2(runner: Any) -> bool:
    """Whether a worker's model runner is V2's; that of the CPU build derives from it."""
    return any(kind.__module__.startswith("vllm.v1.worker.gpu.") for kind in type(runner).__mro__)


def install(runner: Any, writer: SpoolWriter) -> None:
    """Put the hooks into a loaded runner, all or none. Raises SeamUnknown."""
    try:
        _check(runner, runner.rejection_sampler, runner.speculator)
        hooks = _hooks(runner, writer)
    except AttributeError as error:
        raise SeamUnknown(
            f"specviz knows the V2 model runner of vLLM 0.32 and 0.33, and this one has no "
            f"{error.name}."
        ) from error
    for owner, name, hook in hooks:
        setattr(owner, name, hook)


def _hooks(runner: Any, writer: SpoolWriter) -> list[tuple[Any, str, Any]]:
    """Whose method is replaced, its name, and by what."""
    device = device_of(runner)
    if device is None:
        raise SeamUnknown(f"specviz does not trace on a device of kind {runner.device.type}.")
    recorder = Recorder(runner, writer, device, rule_of(runner))
    hooks = [
        (runner, "execute_model", recorder.around_execute_model(runner.execute_model)),
        (runner, "sample", recorder.around_sample(runner.sample)),
    ]
    if sampler := runner.rejection_sampler:
        hooks.append((sampler, "_verify", recorder.around_verify(sampler._verify)))
    if speculator := runner.speculator:
        hooks.append((speculator, "propose", recorder.around_propose(speculator.propose)))
    return hooks


def rule_of(runner: Any) -> Rule:
    """How the server accepts drafts; read once, at the start."""
    from vllm.v1.worker.gpu.sample import gumbel

    sampler, speculative = runner.rejection_sampler, runner.vllm_config.speculative_config
    if sampler is None or speculative is None:
        return Rule("standard")
    rates = sampler.synthetic_conditional_rates
    return Rule(
        name=speculative.rejection_sample_method,
        rates=None if rates is None else tuple(rates.tolist()),
        mixes_step=hasattr(gumbel, "spec_step_seed"),
    )


def _check(runner: Any, sampler: Any, speculator: Any) -> None:
    if runner.batch_sharder is not None:
        raise SeamUnknown(
            "each tensor-parallel rank of this server samples for a part of the batch, and no "
            "worker sees all decisions: start it without --enable-batch-sharded-sampling."
        )
    states = runner.sampler.sampling_states
    for name in ("temperature", "seeds"):
        if not hasattr(getattr(states, name, None), "np"):
            raise SeamUnknown(f"this vLLM version's sampler has no {name} that specviz can read.")
    if _names(runner.sample) != SAMPLE_ARGUMENTS:
        raise SeamUnknown("this vLLM version's V2 model runner is not known to specviz.")
    if sampler is None and speculator is not None:
        raise SeamUnknown("this server drafts without vLLM's rejection sampler.")
    if sampler is not None and _names(sampler._verify)[: len(VERIFY_ARGUMENTS)] != VERIFY_ARGUMENTS:
        raise SeamUnknown("this vLLM version's rejection sampler is not known to specviz.")


def _names(function: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)

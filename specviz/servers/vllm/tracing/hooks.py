"""Puts the recorder into the worker's model runner and reports what can be traced.

The hooks are set on the one runner object after its model is loaded, when everything that the
handshake reports is known. Those here are for vLLM's V1 model runner (0.19 to 0.33), those of `v2`
for V2's.
"""

from __future__ import annotations

import functools
import inspect
import logging
import os
from pathlib import Path
from typing import Any

from specviz import __version__
from specviz.servers.vllm.scheduler.scheduler import SCHEDULER
from specviz.servers.vllm.tracing import spool
from specviz.servers.vllm.tracing.fixes import apply_fixes
from specviz.servers.vllm.tracing.hidden import hidden_by
from specviz.servers.vllm.tracing.recorder import Recorder
from specviz.servers.vllm.tracing.v2 import seam
from specviz.servers.vllm.tracing.v2.seam import SeamUnknown, is_v2

logger = logging.getLogger("vllm.specviz")

REJECTION_SAMPLE_ARGUMENTS = (
    "draft_token_ids",
    "num_draft_tokens",
    "max_spec_len",
    "cu_num_draft_tokens",
    "draft_probs",
    "target_logits",
    "bonus_token_ids",
    "sampling_metadata",
)


class HooksUnavailable(Exception):
    """This server's internals are not the ones that the hooks were written for."""


def install_on_start(wrapper_class: Any, folder: Path) -> None:
    """Make every worker of this process install the hooks once it has loaded its model."""
    original = wrapper_class.init_worker
    if getattr(original, "is_specviz", False):
        return

    @functools.wraps(original)
    def init_worker(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        _install_after_load(self.worker, folder)
        return result

    init_worker.is_specviz = True  # type: ignore[attr-defined]
    wrapper_class.init_worker = init_worker


def _install_after_load(worker: Any, folder: Path) -> None:
    original = worker.load_model

    def load_model(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if samples(worker):
            install(worker.model_runner, folder)
        return result

    worker.load_model = load_model


def samples(worker: Any) -> bool:
    """Whether this worker sees every decision: one of each tensor-parallel group does, and with
    pipelines that of the last stage."""
    is_first = worker.rank % worker.parallel_config.tensor_parallel_size == 0
    return is_first and bool(getattr(worker.model_runner, "is_last_pp_rank", True))


def install(runner: Any, folder: Path) -> None:
    """Install fixes and hooks on a loaded runner and write the handshake, whatever happens.

    A server that cannot be traced must still serve, and say why it cannot.
    """
    fixes: list[str] = []
    reason = None
    try:
        fixes = [] if is_v2(runner) else apply_fixes(runner)
        if unusable := spool.why_unusable(folder):
            raise HooksUnavailable(unusable)
        writer = spool.SpoolWriter(folder)
        if is_v2(runner):
            seam.install(runner, writer)
        else:
            _install_hooks(runner, Recorder(runner, writer))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, HooksUnavailable | SeamUnknown):
            reason = str(error)
        logger.exception("specviz cannot trace this server")
    try:
        spool.write_handshake(folder, describe(runner, fixes, reason))
    except OSError:
        logger.exception("specviz cannot report to this server's API process")


def describe(runner: Any, fixes: list[str], reason: str | None) -> spool.Json:
    """The handshake; its keys are what the client relies on."""
    import vllm

    config, speculative = runner.vllm_config, runner.vllm_config.speculative_config
    draft = getattr(speculative, "draft_model_config", None)
    draft_model = getattr(draft, "model", None) or getattr(speculative, "model", None)
    return {
        "specviz": __version__,
        "tracing": reason is None,
        "reason": reason,
        "runner": "v2" if is_v2(runner) else "v1",
        "vllm": vllm.__version__,
        "device": runner.device.type,
        "model": config.model_config.model,
        "max_model_len": config.model_config.max_model_len,
        "method": getattr(speculative, "method", None),
        "num_speculative_tokens": getattr(speculative, "num_speculative_tokens", None),
        "draft_model": None if draft_model == config.model_config.model else draft_model,
        "draft_sample_method": getattr(speculative, "draft_sample_method", None),
        "rejection_sample_method": getattr(speculative, "rejection_sample_method", None),
        "policy": config.scheduler_config.scheduler_cls == SCHEDULER,
        "fixes": fixes,
        "hidden": hidden_by(config),
        "pid": os.getpid(),
    }


def _install_hooks(runner: Any, recorder: Recorder) -> None:
    _watch_rejection_sampler(recorder)
    runner.execute_model = recorder.around_execute_model(runner.execute_model)
    runner._sample = recorder.around_sample(runner._sample)
    if runner.speculative_config is not None:
        runner.propose_draft_token_ids = recorder.around_propose(runner.propose_draft_token_ids)


def _watch_rejection_sampler(recorder: Recorder) -> None:
    """Let the recorder see the tensors that go through vLLM's rejection sampler."""
    from vllm.v1.sample import rejection_sampler

    arguments = tuple(inspect.signature(rejection_sampler.rejection_sample).parameters)
    if arguments[: len(REJECTION_SAMPLE_ARGUMENTS)] != REJECTION_SAMPLE_ARGUMENTS:
        raise HooksUnavailable("this vLLM version's rejection sampler is not known to specviz.")
    for name in ("rejection_sample", "sample_recovered_tokens", "generate_uniform_probs"):
        original = getattr(rejection_sampler, name)
        observe = getattr(recorder, f"see_{name}")
        setattr(rejection_sampler, name, _observed(original, observe))


def _observed(original: Any, observe: Any) -> Any:
    @functools.wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        observe(result, *args, **kwargs)
        return result

    return function

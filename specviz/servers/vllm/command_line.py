"""The command line of a vLLM server: what to serve, how to speculate, in current flags.

Checked against vLLM 0.32. Flags that are gone (`--speculative-model`, `--num-speculative-tokens`,
…) were replaced by `--speculative-config JSON`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specviz.config import check_k
from specviz.errors import UsageError
from specviz.methods import METHODS, VLLM, Method, served_by
from specviz.servers.hardware import runs_on_cpu
from specviz.servers.vllm.kv_cache import kv_cache_bytes

HOST = "127.0.0.1"

PROMPT_LOOKUP_MIN, PROMPT_LOOKUP_MAX = 1, 3
"""Shortest and longest n-gram that is looked up in the context, in tokens."""


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One server as asked for: everything its command line is made of.

    `port` None takes a free one, `k` None the method's default. `extra_args` are vLLM flags that
    go behind ours and win over them. Raises UsageError for what vLLM cannot do.
    """

    model: str
    method: Method = Method.BASELINE
    draft: str | None = None
    k: int | None = None
    port: int | None = None
    trace: bool = True
    extra_args: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_method(self.method)
        check_k(self.method, self.k)
        _check_draft(self.method, self.draft)
        if self.port is not None and not 1 <= self.port <= 65535:
            raise UsageError(f"A port is a number from 1 to 65535, not {self.port}.")
        if any(argument.partition("=")[0] == "--port" for argument in self.extra_args):
            raise UsageError("Give the port with specviz's own --port, before the vLLM flags.")

    @property
    def num_speculative_tokens(self) -> int | None:
        """K as the server will use it; None for the baseline."""
        return self.k or METHODS[self.method].servers[VLLM].default_k


def speculative_config(spec: ServerSpec) -> dict[str, Any] | None:
    """The value of `--speculative-config`, None for the baseline.

    Draft models sample their drafts (`draft_sample_method` probabilistic): with greedy drafts
    vLLM would accept by the target's probability alone at temperature > 0.
    """
    if spec.method is Method.BASELINE:
        return None
    config: dict[str, Any] = {"method": spec.method.value}
    if spec.draft:
        config["model"] = spec.draft
    config["num_speculative_tokens"] = spec.num_speculative_tokens
    if spec.method is Method.DRAFT_MODEL:
        config["draft_sample_method"] = "probabilistic"
    if spec.method is Method.NGRAM:
        config |= {"prompt_lookup_max": PROMPT_LOOKUP_MAX, "prompt_lookup_min": PROMPT_LOOKUP_MIN}
    return config


def server_command(
    spec: ServerSpec, python: str = sys.executable, *, on_cpu: bool | None = None
) -> list[str]:
    """The arguments that start the server. `on_cpu` None finds out whether this machine has a GPU.

    Prefix caching is off so that a repeated prompt costs the same each time; the log statistics
    stay on because `/metrics` loses the speculation counters without them.
    """
    on_cpu = runs_on_cpu() if on_cpu is None else on_cpu
    command = [python, "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", spec.model, "--host", HOST]
    command += ["--port", str(spec.port)] if spec.port else []
    command += ["--no-enable-prefix-caching"]
    if config := speculative_config(spec):
        command += ["--speculative-config", json.dumps(config)]
        command += ["--per-request-spec-decode-metrics", "detailed"]
    if on_cpu:
        command += _cpu_flags(spec)
    return [*command, *spec.extra_args]


def _cpu_flags(spec: ServerSpec) -> list[str]:
    """What starts fastest on a CPU; decoding is as fast as with the defaults, within noise."""
    flags = ["--distributed-executor-backend", "uni", "--enforce-eager"]
    folders = [Path(name) for name in (spec.model, spec.draft) if name]
    if size := kv_cache_bytes(folders):
        flags += ["--kv-cache-memory-bytes", str(size)]
    return flags


def _check_method(method: Method) -> None:
    if VLLM not in METHODS[method].servers:
        names = ", ".join(served_by(VLLM))
        raise UsageError(f"vLLM does not have the method {method.value}: choose one of {names}.")


def _check_draft(method: Method, draft: str | None) -> None:
    needs_draft = METHODS[method].needs_draft
    if needs_draft and not draft:
        raise UsageError(
            f"The method {method.value} needs a draft model: name its folder or Hugging Face id "
            "with --draft."
        )
    if draft and not needs_draft:
        raise UsageError(f"The method {method.value} uses no draft model: leave --draft out.")

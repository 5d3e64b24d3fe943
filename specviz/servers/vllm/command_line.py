"""The command line of a vLLM server: what to serve, how to speculate, in current flags.

Checked against vLLM 0.32. Flags that are gone (`--speculative-model`, `--num-speculative-tokens`,
…) were replaced by `--speculative-config JSON`.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from specviz.methods import Method
from specviz.servers.launch.launcher import HOST, ServerSpec
from specviz.servers.vllm.hardware import runs_on_cpu
from specviz.servers.vllm.kv_cache import kv_cache_bytes

PROMPT_LOOKUP_MIN, PROMPT_LOOKUP_MAX = 1, 3
"""Shortest and longest n-gram that is looked up in the context, in tokens."""


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


def printed_command(spec: ServerSpec) -> str:
    """`vllm serve …` over several lines, without the flags that a measurement needs."""
    lines = [f"vllm serve {shlex.quote(spec.model)}"]
    if config := speculative_config(spec):
        lines.append(f"--speculative-config {shlex.quote(json.dumps(config))}")
    return " \\\n  ".join(lines)


def _cpu_flags(spec: ServerSpec) -> list[str]:
    """What starts fastest on a CPU; decoding is as fast as with the defaults, within noise."""
    flags = ["--distributed-executor-backend", "uni", "--enforce-eager"]
    folders = [Path(name) for name in (spec.model, spec.draft) if name]
    if size := kv_cache_bytes(folders):
        flags += ["--kv-cache-memory-bytes", str(size)]
    return flags

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

from specviz.deploy import vllm
from specviz.servers.launch.launcher import HOST, ServerSpec
from specviz.servers.vllm.hardware import runs_on_cpu
from specviz.servers.vllm.kv_cache import kv_cache_bytes


def speculative_config(spec: ServerSpec) -> dict[str, Any] | None:
    """The value of `--speculative-config`, None for the baseline."""
    return vllm.speculative_config(spec.method, spec.num_speculative_tokens, spec.draft)


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

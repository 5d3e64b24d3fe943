"""The command line of a vLLM server: what to serve, how to speculate, in current flags.

Checked against vLLM 0.32 and 0.33 (`tests/unit/servers/of_vllm/test_releases.py`). Flags that are
gone (`--speculative-model`, `--num-speculative-tokens`, …) were replaced by
`--speculative-config JSON`.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from specviz.deploy import vllm
from specviz.deploy.versions import is_after_series
from specviz.errors import UsageError
from specviz.machine import vllm_version
from specviz.methods import METHODS, VLLM
from specviz.servers.launch.launcher import HOST, ServerSpec
from specviz.servers.vllm.hardware import runs_on_cpu
from specviz.servers.vllm.kv_cache import kv_cache_bytes
from specviz.servers.vllm.scheduler.scheduler import SCHEDULER


def speculative_config(spec: ServerSpec) -> dict[str, Any] | None:
    """The value of `--speculative-config`, None for the baseline."""
    config = vllm.speculative_config(spec.method, spec.num_speculative_tokens, spec.draft)
    if config and spec.schedule:
        config["num_speculative_tokens_per_batch_size"] = [list(part) for part in spec.schedule]
    return config


def server_command(
    spec: ServerSpec, python: str = sys.executable, *, on_cpu: bool | None = None
) -> list[str]:
    """The arguments that start the server. `on_cpu` None finds out whether this machine has a GPU.

    On a GPU nothing that vLLM switches on by itself is switched off: async scheduling, CUDA graphs,
    prefix caching, chunked prefill. The log statistics stay on because `/metrics` loses the
    speculation counters without them. Raises UsageError for a method that the installed vLLM no
    longer has.
    """
    _check_installed(spec)
    on_cpu = runs_on_cpu() if on_cpu is None else on_cpu
    command = [python, "-m", "vllm.entrypoints.openai.api_server"]
    command += ["--model", spec.model, "--host", HOST]
    command += ["--port", str(spec.port)] if spec.port else []
    if config := speculative_config(spec):
        command += ["--speculative-config", json.dumps(config)]
        command += ["--per-request-spec-decode-metrics", "detailed"]
    if spec.policy:
        command += ["--scheduler-cls", SCHEDULER]
    if on_cpu:
        command += _cpu_flags(spec)
    return [*command, *spec.extra_args]


def printed_command(spec: ServerSpec) -> str:
    """`vllm serve …` over several lines, without the flags that a measurement needs."""
    lines = [f"vllm serve {shlex.quote(spec.model)}"]
    if config := speculative_config(spec):
        lines.append(f"--speculative-config {shlex.quote(json.dumps(config))}")
    return " \\\n  ".join(lines)


def _check_installed(spec: ServerSpec) -> None:
    last, installed = METHODS[spec.method].servers[VLLM].last_version, vllm_version()
    if last and installed and is_after_series(installed.partition("+")[0], last):
        raise UsageError(
            f"vLLM {installed} no longer has the method {spec.method.value}: it was removed after "
            f"{last}. Install vLLM {last}, or choose another method."
        )


def _cpu_flags(spec: ServerSpec) -> list[str]:
    """What starts fastest on a CPU; decoding is as fast as with the defaults, within noise.

    A CPU server is for looking and comparing: without prefix caching a repeated prompt costs the
    same each time.
    """
    flags = ["--distributed-executor-backend", "uni", "--enforce-eager"]
    flags += ["--no-enable-prefix-caching"]
    folders = [Path(name) for name in (spec.model, spec.draft) if name]
    if size := kv_cache_bytes(folders):
        flags += ["--kv-cache-memory-bytes", str(size)]
    return flags

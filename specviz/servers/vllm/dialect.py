"""vLLM's record: how a vLLM server is recognised, asked, read and started."""

from __future__ import annotations

import httpx2

from specviz.config import EngineKind, Prompt, Sampling
from specviz.servers.dialect import UNCUT, Dialect, cache_salt
from specviz.servers.launch.launcher import Launcher
from specviz.servers.token_text import token_text
from specviz.servers.vllm import log
from specviz.servers.vllm.chunk_extras import last_counts, read_extras, totals
from specviz.servers.vllm.command_line import printed_command, server_command
from specviz.servers.vllm.environment import server_environment
from specviz.servers.vllm.hardware import runs_on_cpu
from specviz.servers.vllm.identify import identify
from specviz.servers.vllm.metrics import (
    parse_counters,
    parse_load,
    parse_prefix_caching,
    parse_request_times,
)
from specviz.servers.vllm.scheduler.wishes import CATEGORY, SPEC_K
from specviz.servers.vllm.trace_client import read_records
from specviz.servers.vllm.tracing.keys import new_key


async def _detokenize(http: httpx2.AsyncClient, url: str, model: str, token_id: int) -> str:
    return await token_text(http, url, {"model": model, "tokens": [token_id]}, "prompt")


def _policy_fields(prompt: Prompt, sampling: Sampling) -> dict[str, object]:
    """The fields of a request to a server with a policy: its K, and the kind of its prompt."""
    wishes = {SPEC_K: sampling.spec_k, CATEGORY: prompt.category}
    return {"vllm_xargs": {name: wish for name, wish in wishes.items() if wish is not None}}


LAUNCHER = Launcher(
    name="vLLM",
    engine=EngineKind.VLLM,
    command=server_command,
    environment=server_environment,
    printed=printed_command,
    ready_path="/health",
    stage=log.stage,
    failure_reason=log.failure_reason,
    api_key_variable="VLLM_API_KEY",
    a_flag="--max-model-len 4096",
    runs_on_cpu=runs_on_cpu,
    follows_policies=True,
    has_schedule=True,
)

VLLM = Dialect(
    name="vLLM",
    engine=EngineKind.VLLM,
    advice=(
        "Start the server with `specviz serve` to see rejected drafts and probabilities, "
        "or with `--per-request-spec-decode-metrics detailed` for exact counts."
    ),
    identify=identify,
    request_id=new_key,
    extra_body={"return_token_ids": True, **UNCUT},
    uncached=cache_salt,
    read_extras=read_extras,
    counts=last_counts,
    counters=parse_counters,
    prefix_caching=parse_prefix_caching,
    load=parse_load,
    request_times=parse_request_times,
    detokenize=_detokenize,
    trace=read_records,
    launcher=LAUNCHER,
    request_totals=totals,
    policy_fields=_policy_fields,
)

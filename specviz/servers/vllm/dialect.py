"""vLLM's record: how a vLLM server is recognised, asked, read and started."""

from __future__ import annotations

import uuid

import httpx2

from specviz.config import EngineKind
from specviz.errors import MalformedReply
from specviz.servers import checked
from specviz.servers.dialect import Dialect
from specviz.servers.launch.launcher import Launcher
from specviz.servers.pages import read_page
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
from specviz.servers.vllm.trace_client import read_records
from specviz.servers.vllm.tracing.keys import new_key

LONGEST_TOKEN = 10_000
"""Characters of the text of one token."""


def _cache_salt() -> dict[str, object]:
    """A unique salt: the prompt matches nothing in the cache."""
    return {"cache_salt": uuid.uuid4().hex}


async def _detokenize(http: httpx2.AsyncClient, url: str, model: str, token_id: int) -> str:
    page = await read_page(http, f"{url}/detokenize", body={"model": model, "tokens": [token_id]})
    if page.status != 200:
        raise MalformedReply(f"/detokenize gave status {page.status}")
    answer = checked.json_object(checked.parsed(page.text, "/detokenize"), "/detokenize")
    return checked.text(answer.get("prompt"), "prompt", LONGEST_TOKEN)


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
    usual_start="usually 15 to 40 s",
    runs_on_cpu=runs_on_cpu,
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
    extra_body={"return_token_ids": True},
    uncached=_cache_salt,
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
)

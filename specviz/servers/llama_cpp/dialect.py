"""llama.cpp's record: how its server is recognised, asked, read and started."""

from __future__ import annotations

import httpx2

from specviz.config import EngineKind
from specviz.servers.dialect import Dialect, new_request_id, nothing
from specviz.servers.launch.launcher import Launcher
from specviz.servers.llama_cpp import log
from specviz.servers.llama_cpp.chunk_extras import last_totals, read_extras
from specviz.servers.llama_cpp.command_line import (
    printed_command,
    server_command,
    server_environment,
)
from specviz.servers.llama_cpp.identify import identify
from specviz.servers.llama_cpp.metrics import parse_counters, parse_load
from specviz.servers.llama_cpp.process import API_KEY
from specviz.servers.token_text import token_text


def _uncached() -> dict[str, object]:
    return {"cache_prompt": False}


def _caches_prompts(_: str) -> bool:
    """Every llama.cpp server does unless a flag says otherwise, and no page says."""
    return True


async def _detokenize(http: httpx2.AsyncClient, url: str, _model: str, token_id: int) -> str:
    return await token_text(http, url, {"tokens": [token_id]}, "content")


LAUNCHER = Launcher(
    name="llama.cpp",
    engine=EngineKind.LLAMA_CPP,
    command=server_command,
    environment=server_environment,
    printed=printed_command,
    ready_path="/health",
    stage=log.stage,
    failure_reason=log.failure_reason,
    api_key_variable=API_KEY,
    a_flag="--ctx-size 4096",
    runs_on_cpu=lambda: True,
)

LLAMA_CPP = Dialect(
    name="llama.cpp",
    engine=EngineKind.LLAMA_CPP,
    advice=(
        "llama.cpp counts what it drafts and does not name rejected tokens: a vLLM server that "
        "`specviz serve` starts does, with their probabilities."
    ),
    identify=identify,
    request_id=new_request_id,
    # min_p is 0.05 in llama.cpp unless a request says otherwise, and top_k is 40
    extra_body={"timings_per_token": True, "min_p": 0.0, "top_k": 0},
    uncached=_uncached,
    read_extras=read_extras,
    counts=nothing,  # they come as running totals
    counters=parse_counters,
    prefix_caching=_caches_prompts,
    load=parse_load,
    detokenize=_detokenize,
    launcher=LAUNCHER,
    request_totals=last_totals,
    keeps_alive=False,  # it promises to, and closes behind every streamed answer
)

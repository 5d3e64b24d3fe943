"""Triton's record: how its OpenAI front end is recognised and read.

It converts answers of any back end to OpenAI's fields and drops the rest: no ids, no counts.
Source: server at 03c2093, `python/openai/openai_frontend/engine/triton_engine.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specviz.config import EngineKind
from specviz.servers.capabilities import NO_PLUGIN_FOR_KIND, Capabilities
from specviz.servers.dialect import (
    Dialect,
    Extras,
    Get,
    cannot_detokenize,
    new_request_id,
    nothing,
)
from specviz.servers.owner import owner
from specviz.servers.triton.metrics import parse_load


async def identify(get: Get) -> Capabilities | None:
    """Its models are owned by Triton; it says nothing of its version or of what drafts."""
    if await owner(get) != "Triton Inference Server":
        return None
    return Capabilities(tracing_reason=NO_PLUGIN_FOR_KIND)


def _no_extras(_: Mapping[str, Any]) -> Extras:
    return Extras()


TRITON = Dialect(
    name="Triton",
    engine=EngineKind.TRITON,
    advice=(
        "Triton's OpenAI front end passes on neither token ids nor what was drafted, and its "
        "metrics have no acceptance. Serve the same model with `vllm serve` to see them."
    ),
    identify=identify,
    request_id=new_request_id,
    extra_body={},
    uncached=dict,
    read_extras=_no_extras,
    counts=nothing,
    counters=nothing,
    prefix_caching=nothing,
    load=parse_load,
    detokenize=cannot_detokenize,
)

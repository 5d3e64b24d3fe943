"""Recognising a vLLM server, and what it offers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from specviz.methods import Method
from specviz.servers.capabilities import NO_PLUGIN, Capabilities
from specviz.servers.dialect import Get
from specviz.servers.vllm.metrics import parse_counters
from specviz.servers.vllm.trace_client import HANDSHAKE


async def identify(get: Get) -> Capabilities | None:
    """A vLLM server's capabilities; None for a server without vLLM's `/version`, unless it has
    the tracing plugin."""
    version = _object(await get("/version")).get("version")
    handshake = _object(await get(HANDSHAKE))
    if not version and not handshake:
        return None
    metrics = await get("/metrics")
    return Capabilities(
        version=version,
        speculates=None if metrics is None else parse_counters(metrics) is not None,
        **_plugin_fields(handshake),
    )


def _plugin_fields(handshake: Mapping[str, Any]) -> dict[str, Any]:
    if not handshake:
        return {"tracing_reason": NO_PLUGIN}
    method = handshake.get("method")
    return {
        "tracing": bool(handshake.get("tracing")),
        "tracing_reason": handshake.get("reason"),
        "method": Method(method) if method in set(Method) else None,
        "k": handshake.get("num_speculative_tokens"),
        "draft": handshake.get("draft_model"),
        "fixes": tuple(handshake.get("fixes") or ()),
    }


def _object(text: str | None) -> dict[str, Any]:
    """The JSON object on a page, {} where there is none."""
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}  # another server's catch-all page
    return value if isinstance(value, dict) else {}

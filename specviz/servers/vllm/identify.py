"""Recognising a vLLM server, and what it offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specviz.errors import MalformedReply
from specviz.methods import Method
from specviz.servers import checked
from specviz.servers.capabilities import NO_PLUGIN, Capabilities
from specviz.servers.dialect import Get
from specviz.servers.trace_record import MAX_DRAFT
from specviz.servers.vllm.metrics import has_metrics, parse_counters
from specviz.servers.vllm.server_info import SERVER_INFO, with_server_info
from specviz.servers.vllm.trace_client import HANDSHAKE
from specviz.servers.vllm.verifier import RULE, verifier

MAX_FIXES = MAX_HIDDEN = 100


async def identify(get: Get) -> Capabilities | None:
    """A vLLM server's capabilities; None for a server without vLLM's `/version`, unless it has
    the tracing plugin."""
    version = _version(checked.object_on(await get("/version")))
    handshake = checked.object_on(await get(HANDSHAKE))
    if not version and not handshake:
        return None
    found = Capabilities(
        version=version, speculates=_speculates(await get("/metrics")), **_plugin_fields(handshake)
    )
    if found.speculates is False or found.verifier is not None:
        return found
    return with_server_info(found, await get(SERVER_INFO))


def _version(page: Mapping[str, Any]) -> str | None:
    try:
        return checked.optional(checked.label, page.get("version"), "version")
    except MalformedReply:
        return None


def _speculates(metrics: str | None) -> bool | None:
    """None: the server does not say, or a proxy answers every path with a page of its own."""
    try:
        if metrics is None or not has_metrics(metrics):
            return None
        return parse_counters(metrics) is not None
    except MalformedReply:
        return None


def _plugin_fields(handshake: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing of a handshake is believed of which a part is malformed."""
    if not handshake:
        return {"tracing_reason": NO_PLUGIN}
    try:
        method = checked.optional(checked.label, handshake.get("method"), "method")
        fixes = checked.array(handshake.get("fixes") or [], "fixes", MAX_FIXES)
        hidden = checked.array(handshake.get("hidden") or [], "hidden", MAX_HIDDEN)
        rule = checked.optional(checked.label, handshake.get(RULE), RULE)
        return {
            "tracing": handshake.get("tracing") is True,
            "tracing_reason": checked.optional(
                checked.label, handshake.get("reason"), "reason", 4096
            ),
            "method": Method(method) if method in set(Method) else None,
            "k": checked.optional(
                checked.count,
                handshake.get("num_speculative_tokens"),
                "num_speculative_tokens",
                0,
                MAX_DRAFT,
            ),
            "draft": checked.optional(
                checked.label, handshake.get("draft_model"), "draft_model", 4096
            ),
            "verifier": verifier(rule) if rule else None,
            "follows_policy": handshake.get("policy") is True,
            "fixes": tuple(checked.label(fix, "fixes", 4096) for fix in fixes),
            "runner": checked.optional(checked.label, handshake.get("runner"), "runner"),
            "hidden": tuple(checked.label(reason, "hidden", 4096) for reason in hidden),
        }
    except MalformedReply as error:
        return {"tracing_reason": f"the plugin's report cannot be true: {error}"}

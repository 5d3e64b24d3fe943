"""Recognising an SGLang server, and what it offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from specviz.config import MAX_K
from specviz.errors import MalformedReply
from specviz.methods import Method
from specviz.servers import checked
from specviz.servers.capabilities import NO_PLUGIN_FOR_KIND, Capabilities
from specviz.servers.dialect import Get
from specviz.servers.owner import owner
from specviz.servers.sglang.verifier import verifier
from specviz.servers.trace_record import MAX_DRAFT

METHODS = {
    "EAGLE": Method.EAGLE,
    "EAGLE3": Method.EAGLE3,
    "STANDALONE": Method.DRAFT_MODEL,
    "NGRAM": Method.NGRAM,
}
"""Algorithms that specviz has a word for; NEXTN is reported as EAGLE."""

CHAINS = {"EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "FROZEN_KV_MTP", "DFLASH"}
"""Algorithms that draft one sequence per step where topk is 1; NGRAM drafts from a trie."""


async def identify(get: Get) -> Capabilities | None:
    """An SGLang server's capabilities; None without its name on `/v1/models` and `/server_info`."""
    if await owner(get) != "sglang":
        return None
    info = checked.object_on(await get("/server_info"))
    info = info or checked.object_on(await get("/get_server_info"))  # its older name
    if "version" not in info:
        return None
    try:
        return _capabilities(info)
    except MalformedReply as error:
        return Capabilities(
            tracing_reason=f"the server's report cannot be true: {error}",
            drafts_trees=True,
            adapts_k=True,
        )


def _capabilities(info: Mapping[str, Any]) -> Capabilities:
    version = checked.label(info["version"], "version")
    radix_off = info.get("disable_radix_cache")
    common = Capabilities(
        version=version,
        tracing_reason=NO_PLUGIN_FOR_KIND,
        prefix_caching=not radix_off if isinstance(radix_off, bool) else None,
    )
    if "speculative_algorithm" not in info:
        return common
    algorithm = checked.optional(checked.label, info["speculative_algorithm"], "the algorithm")
    if algorithm is None:
        return replace(common, speculates=False)
    topk = checked.optional(checked.count, info.get("speculative_eagle_topk"), "topk", 0)
    draft = info.get("speculative_draft_model_path")
    return replace(
        common,
        speculates=True,
        method=METHODS.get(algorithm),
        k=_k(info),
        draft=checked.optional(checked.label, draft, "the draft's path", 4096),
        verifier=verifier(info),
        drafts_trees=algorithm not in CHAINS or (topk or 1) > 1,
        adapts_k=info.get("speculative_adaptive") is True or algorithm == "DSPARK",
    )


def _k(info: Mapping[str, Any]) -> int | None:
    """Tokens that the target verifies per step, without the one that is its own. Trees may have
    more than specviz has a K for."""
    drafted = checked.optional(
        checked.count, info.get("speculative_num_draft_tokens"), "num_draft_tokens", 0, MAX_DRAFT
    )
    return drafted - 1 if drafted and 1 < drafted <= MAX_K + 1 else None

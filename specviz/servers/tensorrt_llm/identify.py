"""Recognising a TensorRT-LLM server, and what it offers.

Which verifier it runs with (exact match, rejection sampling, relaxed acceptance for thinking) is on
none of its pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specviz.config import MAX_K
from specviz.errors import MalformedReply
from specviz.methods import Method
from specviz.servers import checked
from specviz.servers.capabilities import NO_PLUGIN_FOR_KIND, Capabilities
from specviz.servers.dialect import Get
from specviz.servers.metrics import samples
from specviz.servers.owner import owner
from specviz.servers.tensorrt_llm.metrics import METRICS_PATH

METHODS = {
    "Eagle": Method.EAGLE3,  # an alias in the PyTorch backend
    "Eagle3": Method.EAGLE3,
    "DraftTarget": Method.DRAFT_MODEL,
    "NGram": Method.NGRAM,
    "Medusa": Method.MEDUSA,
}
"""Decoding types that specviz has a word for."""

CONFIG = "trtllm_speculative_config_info"


async def identify(get: Get) -> Capabilities | None:
    """A TensorRT-LLM server's capabilities; None without its name on `/v1/models`."""
    if await owner(get) != "tensorrt_llm":
        return None
    version = checked.object_on(await get("/version")).get("version")
    page = await get(METRICS_PATH)
    try:
        return Capabilities(
            version=checked.optional(checked.label, version, "version"),
            tracing_reason=NO_PLUGIN_FOR_KIND,
            **_speculation(page or ""),
        )
    except MalformedReply:
        return Capabilities(tracing_reason=NO_PLUGIN_FOR_KIND)


def _speculation(page: str) -> dict[str, Any]:
    """What the configuration on the metrics page says; {} without it. Raises MalformedReply."""
    labels = next((one.labels for one in samples(page) if one.name == CONFIG), None)
    if labels is None:
        return {}
    if labels.get("spec_enabled", "").casefold() != "true":
        return {"speculates": False}
    draft = labels.get("spec_draft_model")
    return {
        "speculates": True,
        "method": METHODS.get(labels.get("spec_method", "").removesuffix("DecodingConfig")),
        "k": _k(labels),
        "draft": checked.label(draft, CONFIG, 4096) if draft and draft != "none" else None,
    }


def _k(labels: Mapping[str, str]) -> int | None:
    number = labels.get("spec_num_tokens", "")
    return int(number) if number in {str(k) for k in range(1, MAX_K + 1)} else None

"""LM Studio's record: how such a server is recognised and read."""

from __future__ import annotations

from specviz.config import EngineKind
from specviz.errors import MalformedReply
from specviz.servers import checked
from specviz.servers.capabilities import NO_PLUGIN_FOR_KIND, Capabilities
from specviz.servers.dialect import Dialect, Get, cannot_detokenize, new_request_id, nothing
from specviz.servers.lm_studio.stats import read_extras, totals
from specviz.servers.metrics import ServerLoad

REST_MODELS = "/api/v0/models"
"""LM Studio's own list of models; an entry says in which format the weights are."""


async def identify(get: Get) -> Capabilities | None:
    """LM Studio has its own list of models. It reports no version, and drafts per request."""
    try:
        models = checked.array(checked.object_on(await get(REST_MODELS)).get("data"), "data")
        first = checked.json_object(models[0] if models else {}, "a model")
    except MalformedReply:
        return None
    if not {"state", "compatibility_type"} <= first.keys():
        return None
    return Capabilities(tracing_reason=NO_PLUGIN_FOR_KIND)


def _no_load(_: str) -> ServerLoad:
    return ServerLoad()


LM_STUDIO = Dialect(
    name="LM Studio",
    engine=EngineKind.LM_STUDIO,
    advice=(
        "LM Studio counts drafts per request, in `stats`, where the model's settings name a draft "
        "model: choose one there, because specviz asks for none."
    ),
    identify=identify,
    request_id=new_request_id,
    extra_body={},
    uncached=dict,
    read_extras=read_extras,
    counts=nothing,
    counters=nothing,
    prefix_caching=nothing,
    load=_no_load,
    detokenize=cannot_detokenize,
    request_totals=totals,
)

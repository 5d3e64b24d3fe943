"""Who serves the models, in the words of `/v1/models`."""

from __future__ import annotations

from specviz.errors import MalformedReply
from specviz.servers import checked
from specviz.servers.dialect import Get


async def owner(get: Get) -> str | None:
    """`owned_by` of the first model; None where the server does not say."""
    try:
        models = checked.array(checked.object_on(await get("/v1/models")).get("data"), "data")
        first = checked.json_object(models[0] if models else {}, "a model")
        return checked.optional(checked.label, first.get("owned_by"), "owned_by")
    except MalformedReply:
        return None

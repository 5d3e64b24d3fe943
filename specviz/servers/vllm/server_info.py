"""`/server_info`, which vLLM has with VLLM_SERVER_DEV_MODE=1: how it drafts, without the plugin.

Seen on 0.32; read in 0.33 (`entrypoints/serve/dev/server_info/api_router.py`).
"""

from __future__ import annotations

from dataclasses import replace

from specviz.errors import MalformedReply
from specviz.methods import Method
from specviz.servers import checked
from specviz.servers.capabilities import Capabilities
from specviz.servers.trace_record import MAX_DRAFT
from specviz.servers.vllm.verifier import RULE, verifier

SERVER_INFO = "/server_info?config_format=json"


def with_server_info(found: Capabilities, page: str | None) -> Capabilities:
    """`found`, with what only the page says; unchanged where there is none or it is malformed."""
    try:
        config = checked.json_object(checked.object_on(page).get("vllm_config"), "vllm_config")
        drafting = checked.json_object(config.get("speculative_config"), "speculative_config")
        method = checked.optional(checked.label, drafting.get("method"), "method")
        name = "num_speculative_tokens"
        k = checked.optional(checked.count, drafting.get(name), name, 0, MAX_DRAFT)
        draft = checked.optional(checked.label, drafting.get("model"), "model", 4096)
        rule = checked.optional(checked.label, drafting.get(RULE), RULE)
    except MalformedReply:
        return found
    return replace(
        found,
        method=found.method or (Method(method) if method in set(Method) else None),
        k=found.k or k,
        draft=found.draft or (draft if draft != method else None),
        verifier=verifier(rule) if rule else None,
    )

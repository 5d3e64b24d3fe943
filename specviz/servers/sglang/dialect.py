"""SGLang's record: how such a server is recognised, asked and read."""

from __future__ import annotations

import httpx2

from specviz.config import EngineKind
from specviz.servers.dialect import UNCUT, Dialect, cache_salt, new_request_id, nothing
from specviz.servers.sglang.chunk_extras import (
    REQUEST_FIELDS,
    STREAM_OPTIONS,
    proven_counts,
    read_extras,
    totals,
)
from specviz.servers.sglang.identify import identify
from specviz.servers.sglang.metrics import parse_load
from specviz.servers.token_text import token_text


async def _detokenize(http: httpx2.AsyncClient, url: str, model: str, token_id: int) -> str:
    body = {"model": model, "tokens": [token_id], "skip_special_tokens": False}
    return await token_text(http, url, body, "text")


SGLANG = Dialect(
    name="SGLang",
    engine=EngineKind.SGLANG,
    advice=(
        "SGLang counts drafts per request and names none. Steps are counted where each chunk is "
        "one: leave `--stream-interval` at 1 and `--speculative-eagle-topk` at 1."
    ),
    identify=identify,
    request_id=new_request_id,
    extra_body={**REQUEST_FIELDS, **UNCUT},
    uncached=cache_salt,
    read_extras=read_extras,
    counts=proven_counts,
    counters=nothing,
    prefix_caching=nothing,
    load=parse_load,
    detokenize=_detokenize,
    request_totals=totals,
    stream_options=STREAM_OPTIONS,
)

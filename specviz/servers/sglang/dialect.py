"""SGLang's record: how such a server is recognised, asked and read."""

from __future__ import annotations

import uuid

import httpx2

from specviz.config import EngineKind
from specviz.errors import MalformedReply
from specviz.servers import checked
from specviz.servers.dialect import Dialect, new_request_id, nothing
from specviz.servers.pages import read_page
from specviz.servers.sglang.chunk_extras import (
    REQUEST_FIELDS,
    STREAM_OPTIONS,
    proven_counts,
    read_extras,
    totals,
)
from specviz.servers.sglang.identify import identify
from specviz.servers.sglang.metrics import parse_load

LONGEST_TOKEN = 10_000
"""Characters of the text of one token."""


def _cache_salt() -> dict[str, object]:
    return {"cache_salt": uuid.uuid4().hex}


async def _detokenize(http: httpx2.AsyncClient, url: str, model: str, token_id: int) -> str:
    body = {"model": model, "tokens": [token_id], "skip_special_tokens": False}
    page = await read_page(http, f"{url}/detokenize", body=body)
    if page.status != 200:
        raise MalformedReply(f"/detokenize gave status {page.status}")
    answer = checked.json_object(checked.parsed(page.text, "/detokenize"), "/detokenize")
    return checked.text(answer.get("text"), "text", LONGEST_TOKEN)


SGLANG = Dialect(
    name="SGLang",
    engine=EngineKind.SGLANG,
    advice=(
        "SGLang counts drafts per request and names none. Steps are counted where each chunk is "
        "one: leave `--stream-interval` at 1 and `--speculative-eagle-topk` at 1."
    ),
    identify=identify,
    request_id=new_request_id,
    extra_body=REQUEST_FIELDS,
    uncached=_cache_salt,
    read_extras=read_extras,
    counts=proven_counts,
    counters=nothing,
    prefix_caching=nothing,
    load=parse_load,
    detokenize=_detokenize,
    request_totals=totals,
    stream_options=STREAM_OPTIONS,
)

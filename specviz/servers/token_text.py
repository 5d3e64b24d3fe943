"""The text of one token, from the page `/detokenize` that several kinds of servers have."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2

from specviz.errors import MalformedReply
from specviz.servers import checked
from specviz.servers.pages import read_page

LONGEST_TOKEN = 10_000
"""Characters of the text of one token."""


async def token_text(
    http: httpx2.AsyncClient, url: str, body: Mapping[str, object], field: str
) -> str:
    """What the server at `url` answers to `body`, in the kind's own `field`.

    Raises httpx2.HTTPError or MalformedReply.
    """
    page = await read_page(http, f"{url}/detokenize", body=dict(body))
    if page.status != 200:
        raise MalformedReply(f"/detokenize gave status {page.status}")
    answer = checked.json_object(checked.parsed(page.text, "/detokenize"), "/detokenize")
    return checked.text(answer.get(field), field, LONGEST_TOKEN)

"""The tracing plugin's two routes, seen from the client."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from specviz.errors import MalformedReply
from specviz.servers.checked import parsed
from specviz.servers.client.sse import Lines
from specviz.servers.pages import UNCOMPRESSED
from specviz.servers.trace_record import TraceRecord, read_record

HANDSHAKE = "/specviz/handshake"

MAX_RECORD = 2**18
"""Bytes of a line: a draft of 1,024 tokens with the five best of each."""

MAX_TRACE = 2**26
"""Bytes of all lines."""


async def read_records(
    http: httpx2.AsyncClient, url: str, request_id: str
) -> AsyncIterator[TraceRecord]:
    """Yield the records of a request as the server writes them, until the caller stops.

    Raises httpx2.HTTPError when the route is gone, MalformedReply for what is not a record.
    """
    address = f"{url}/specviz/trace/{request_id}"
    timeout = httpx2.Timeout(10.0, read=None)  # a step may take as long as it takes
    lines, size = Lines(MAX_RECORD), 0
    async with http.stream(
        "GET", address, timeout=timeout, headers=UNCOMPRESSED, follow_redirects=False
    ) as response:
        response.raise_for_status()
        async for piece in response.aiter_bytes():
            size += len(piece)
            if size > MAX_TRACE:
                raise MalformedReply(f"it is longer than {MAX_TRACE:,} bytes")
            for line in lines.feed(piece):
                if line.strip():
                    yield read_record(parsed(line, "a trace record"))

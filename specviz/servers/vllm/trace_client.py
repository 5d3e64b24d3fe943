"""The tracing plugin's two routes, seen from the client."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2

HANDSHAKE = "/specviz/handshake"


async def read_records(
    http: httpx2.AsyncClient, url: str, request_id: str
) -> AsyncIterator[dict[str, Any]]:
    """Yield the records of a request as the server writes them, until the caller stops.

    Raises httpx2.HTTPError when the route is gone, ValueError for a line that is not JSON.
    """
    address = f"{url}/specviz/trace/{request_id}"
    timeout = httpx2.Timeout(10.0, read=None)  # a step may take as long as it takes
    async with http.stream("GET", address, timeout=timeout) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if line.strip():
                yield json.loads(line)

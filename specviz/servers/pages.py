"""A page of a server, read within limits of time and size."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

import httpx2

from specviz.servers.checked import excerpt

PAGE_TIMEOUT_S = 10.0
"""For the whole page, however slowly it drips."""

MAX_PAGE = 8 * 2**20
"""Bytes; the metrics of a large server are a tenth of it."""

UNCOMPRESSED = {"Accept-Encoding": "identity"}
"""A proxy that compresses holds chunks back, and a short page may unpack into a long one."""


@dataclass(frozen=True, slots=True)
class Page:
    """`location` is where a redirect leads; it is never followed."""

    status: int
    text: str
    location: str | None = None


async def read_page(
    http: httpx2.AsyncClient, url: str, *, body: object = None, timeout_s: float = PAGE_TIMEOUT_S
) -> Page:
    """GET a page, or POST `body` as JSON.

    Raises httpx2.TransportError, also for a page that is too long or not complete in time.
    """
    content = None if body is None else json.dumps(body).encode()
    headers = UNCOMPRESSED if body is None else {**UNCOMPRESSED, "Content-Type": "application/json"}
    request = http.build_request(
        "GET" if body is None else "POST", url, content=content, headers=headers, timeout=timeout_s
    )
    try:
        async with asyncio.timeout(timeout_s):
            response = await http.send(request, stream=True, follow_redirects=False)
            try:
                received = await body_of(response)
            finally:
                await response.aclose()
    except TimeoutError:
        raise httpx2.ReadTimeout(f"nothing complete within {timeout_s:g} s") from None
    except (OSError, httpx2.DecodingError) as error:  # of the socket; of a compressed page
        raise httpx2.ReadError(str(error)) from error
    location = response.headers.get("location") if response.is_redirect else None
    return Page(
        response.status_code,
        received.decode(errors="replace"),
        None if location is None else excerpt(location),
    )


async def body_of(response: httpx2.Response, most: int = MAX_PAGE) -> bytes:
    """The body of a streamed response. Raises httpx2.ReadError where it is longer."""
    pieces, size = [], 0
    async for piece in response.aiter_bytes():
        size += len(piece)
        if size > most:
            raise httpx2.ReadError(f"more than {most:,} bytes")
        pieces.append(piece)
    return b"".join(pieces)

"""What every connection to a server begins with: its key, and what the server is."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from specviz.servers.vllm.capabilities import Capabilities, probe


@asynccontextmanager
async def connecting(
    url: str, model: str | None
) -> AsyncIterator[tuple[Capabilities, httpx2.AsyncClient]]:
    """The server at `url` as found, and a client for it, for the caller to keep.

    The client is closed only where something is raised, here or in the caller's block. Raises
    ServerUnreachable, NotAnOpenAIServer, or RequestRefused for a model it does not serve.
    """
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {api_key()}"})
    try:
        capabilities = await probe(url, http)
        capabilities.check_serves(model)
        yield capabilities, http
    except BaseException:
        await http.aclose()
        raise


def api_key() -> str:
    """The operator's key; vLLM started without one accepts anything."""
    return os.environ.get("OPENAI_API_KEY") or "none"

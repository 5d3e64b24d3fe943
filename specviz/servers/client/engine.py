"""A server as an engine.

This module speaks to the server: the answer comes through the `openai` package, the tracing
plugin's records on a second connection. `specviz.servers.client.request` merges both into
steps.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

import httpx2
import openai

from specviz.config import Prompt, Sampling
from specviz.methods import Method
from specviz.servers.client.api_key import api_key
from specviz.servers.client.chunks import Chunk, read_chunk
from specviz.servers.client.detokenizer import Detokenizer, cut
from specviz.servers.client.failures import stream_error
from specviz.servers.client.probe import FoundServer, connecting
from specviz.servers.client.request import RequestInFlight
from specviz.servers.client.traced_steps import ids_in_record
from specviz.trace import Event

STALL_TIMEOUT_S = 60.0
"""Silence after which a stream is given up; a prompt in a long queue must fit in."""


class ServerEngine:
    """One server. Open with `open_server`, close when done."""

    def __init__(
        self,
        server: FoundServer,
        http: httpx2.AsyncClient,
        *,
        model: str | None = None,
        method: Method | None = None,
        k: int | None = None,
        traced: bool = True,
        stall_timeout_s: float = STALL_TIMEOUT_S,
    ) -> None:
        found = server.capabilities
        self.server = server
        self.model = model or server.model
        self.method, self.k = found.settled(method, k)
        self.traced = traced and found.tracing and found.speculates is not False
        self.stall_timeout_s = stall_timeout_s
        self._http = http
        self._openai = openai.AsyncOpenAI(
            base_url=f"{server.url}/v1",
            api_key=api_key(server.url),
            max_retries=0,
            timeout=httpx2.Timeout(2 * stall_timeout_s, connect=10.0),
        )
        self._detokenizer = Detokenizer(self._token_text, _local_tokenizer(server))

    async def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncGenerator[Event, None]:
        """Send one request and yield its events; see `specviz.engines.base.Engine`."""
        request = RequestInFlight(self, prompt, sampling)
        try:
            async for event in request.events():
                yield event
        finally:
            await request.cancel()

    async def warm_up(self) -> None:
        """Answer one token unseen, so that the first measured request pays no first-time costs.

        One token needs no verification step: the server's speculation counters stay as they are.
        Raises an EngineError if the server refuses or fails.
        """
        prompt, sampling = Prompt("Hi"), Sampling(max_tokens=1)
        async for chunk in self.chunks(prompt, sampling, "warm-up", time.perf_counter):
            await self.texts(chunk)

    async def close(self) -> None:
        """Close the connections."""
        await self._openai.close()
        await self._http.aclose()

    async def chunks(
        self, prompt: Prompt, sampling: Sampling, request_id: str, clock: Callable[[], float]
    ) -> AsyncIterator[Chunk]:
        """The answer as checked chunks. Raises an EngineError in the user's words."""
        try:
            stream = await self._openai.chat.completions.create(
                model=self.model,
                messages=cast(Any, prompt.messages),
                stream=True,
                stream_options={"include_usage": True},
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                max_tokens=sampling.max_tokens,
                seed=openai.omit if sampling.seed is None else sampling.seed,
                extra_headers={"X-Request-Id": request_id},
                extra_body=self.server.dialect.extra_body or None,
            )
            async for raw in stream:
                yield read_chunk(raw, clock(), self.server.dialect.read_extras)
        except (openai.OpenAIError, httpx2.HTTPError, ValueError) as error:
            raise stream_error(error, self.server, self.model) from error

    def records(self, request_id: str) -> AsyncIterator[dict[str, Any]]:
        """The plugin's records of a request, as they are written."""
        trace = self.server.dialect.trace
        assert trace is not None  # only asked where `traced`
        return trace(self._http, self.server.url, request_id)

    async def texts(self, chunk: Chunk) -> list[str]:
        """The text of a chunk cut into one part per token."""
        if chunk.token_ids is None:
            return [chunk.text]
        await self._detokenizer.prepare(chunk.token_ids)
        return cut(chunk.text, [self._detokenizer.text(token) for token in chunk.token_ids])

    async def decision_texts(self, record: dict[str, Any]) -> Callable[[int], str]:
        """A function from token id to text that knows every id of the record."""
        await self._detokenizer.prepare(ids_in_record(record))
        return self._detokenizer.text

    async def _token_text(self, token_id: int) -> str:
        detokenize = self.server.dialect.detokenize
        return await detokenize(self._http, self.server.url, self.model, token_id)


async def open_server(
    url: str,
    *,
    model: str | None = None,
    method: Method | None = None,
    k: int | None = None,
    traced: bool = True,
    stall_timeout_s: float = STALL_TIMEOUT_S,
) -> ServerEngine:
    """Connect to a server and find out what it offers.

    `method` and `k` are what the caller believes; what the server reports wins. Raises
    ServerUnreachable, NotAnOpenAIServer, or RequestRefused for a model it does not serve.
    """
    async with connecting(url, model) as (server, http):
        return ServerEngine(
            server,
            http,
            model=model,
            method=method,
            k=k,
            traced=traced,
            stall_timeout_s=stall_timeout_s,
        )


def _local_tokenizer(server: FoundServer) -> Path | None:
    if not server.model_root:
        return None
    path = Path(server.model_root) / "tokenizer.json"
    return path if path.is_file() else None

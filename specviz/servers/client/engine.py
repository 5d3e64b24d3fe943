"""A server as an engine.

This module speaks to the server through the openai package: the answer comes on one connection, the
tracing plugin's records on a second one. `specviz.servers.client.request` merges both into steps. A
redirect is never followed: the prompt goes where it was sent, and nowhere else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

import httpx2
import openai

from specviz.config import Prompt, Sampling
from specviz.errors import EngineError, MalformedReply, RequestRefused
from specviz.methods import Method
from specviz.servers.client.api_key import api_key
from specviz.servers.client.chunks import Chunk
from specviz.servers.client.deltas import Piece
from specviz.servers.client.detokenizer import Detokenizer, cut
from specviz.servers.client.failures import not_json, status_error, stream_error
from specviz.servers.client.limits import MAX_LINE, StreamLimits
from specviz.servers.client.probe import FoundServer, connecting
from specviz.servers.client.reader import AnswerReader
from specviz.servers.client.request import RequestInFlight
from specviz.servers.client.sse import Lines
from specviz.servers.dialect import Dialect
from specviz.servers.pages import UNCOMPRESSED, body_of
from specviz.servers.trace_record import TraceRecord
from specviz.trace import Event

CHAT = "/chat/completions"

STREAMED = {"Content-Type": "application/json", "Accept": "text/event-stream", **UNCOMPRESSED}
"""Headers of a request whose answer is streamed."""

CONNECT_TIMEOUT_S = 10.0

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
        client = openai.AsyncOpenAI(
            base_url=f"{server.url}/v1",
            api_key=api_key(server.url),
            max_retries=0,
            timeout=httpx2.Timeout(2 * stall_timeout_s, connect=CONNECT_TIMEOUT_S),
            http_client=http,
        )
        # looked up now: openai imports what it needs here, which would count as the server's time
        self._completions = client.chat.completions.with_streaming_response
        http.event_hooks = {"response": [self._check_answer]}
        self._detokenizer = Detokenizer(
            self._token_text, _local_tokenizer(server), patience_s=stall_timeout_s
        )

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
            await self.pieces(chunk)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def chunks(
        self, prompt: Prompt, sampling: Sampling, request_id: str, clock: Callable[[], float]
    ) -> AsyncIterator[Chunk]:
        """The answer as checked chunks. Raises an EngineError in the user's words."""
        limits = StreamLimits(sampling.max_tokens, self.stall_timeout_s)
        reader = AnswerReader(self.server.dialect.read_extras)
        broken: EngineError | None = None
        try:
            async with aclosing(self._lines(prompt, sampling, request_id, limits)) as lines:
                async for line in lines:
                    for chunk in reader.take(line, clock()):
                        limits.take(chunk)
                        yield chunk
                    if reader.done:
                        break
        except EngineError as error:
            broken = error
        for chunk in reader.rest(broken):
            yield chunk

    async def _lines(
        self, prompt: Prompt, sampling: Sampling, request_id: str, limits: StreamLimits
    ) -> AsyncGenerator[bytes, None]:
        """The lines of the answer.

        openai sends the request; its own reader of events has no limit on their length.
        """
        lines = Lines(MAX_LINE)
        fields = request_fields(self.model, prompt, sampling, self.server.dialect)
        extra = extra_fields(prompt, sampling, self.server)
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(limits.left_s()):
                    answer = await stack.enter_async_context(
                        self._completions.create(
                            **fields,
                            extra_body=extra,
                            extra_headers={**STREAMED, "X-Request-Id": request_id},
                        )
                    )
                pieces = aiter(answer.iter_bytes())
                while True:
                    async with asyncio.timeout(limits.left_s()):
                        piece = await anext(pieces, None)
                    if piece is None:
                        break
                    limits.take_bytes(len(piece))
                    for line in lines.feed(piece):
                        yield line
                yield lines.rest()  # without the end of its line
        except MalformedReply as error:
            raise not_json() from error
        except openai.APIConnectionError as error:  # around what the connection raised
            cause = error.__cause__
            if isinstance(cause, EngineError):
                raise cause from None
            broken = cause if isinstance(cause, Exception) else error
            raise stream_error(broken, self.server, self.stall_timeout_s) from error
        except (httpx2.HTTPError, OSError) as error:
            raise stream_error(error, self.server, self.stall_timeout_s) from error

    async def _check_answer(self, response: httpx2.Response) -> None:
        """Refuse all but 200, with a bounded look at the body: openai would read all of it."""
        if response.request.url.path.endswith(CHAT) and response.status_code != 200:
            async with asyncio.timeout(self.stall_timeout_s):
                body = await body_of(response)
            raise status_error(response.status_code, body, self.server, self.model)

    def records(self, request_id: str) -> AsyncIterator[TraceRecord]:
        """The plugin's records of a request, as they are written."""
        trace = self.server.dialect.trace
        assert trace is not None  # only asked where `traced`
        return trace(self._http, self.server.url, request_id)

    async def pieces(self, chunk: Chunk) -> list[Piece]:
        """The output of a chunk cut into one part per token."""
        if not chunk.token_ids:
            return chunk.pieces
        await self._detokenizer.prepare(chunk.token_ids)
        names = [self._detokenizer.text(token) for token in chunk.token_ids]
        return chunk.named(cut(chunk.text, names), names)

    async def decision_texts(self, record: TraceRecord) -> Callable[[int], str]:
        """A function from token id to text that knows every id of the record."""
        await self._detokenizer.prepare(record.ids)
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


def request_fields(
    model: str, prompt: Prompt, sampling: Sampling, dialect: Dialect
) -> dict[str, Any]:
    """The fields of a streamed chat request that are OpenAI's."""
    fields = {
        "model": model,
        "messages": prompt.messages,
        "stream": True,
        "stream_options": {"include_usage": True, **(dialect.stream_options or {})},
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
    }
    return fields if sampling.seed is None else {**fields, "seed": sampling.seed}


def extra_fields(prompt: Prompt, sampling: Sampling, server: FoundServer) -> dict[str, object]:
    """The other fields: those of this kind of server, the top-k, and what it decides a request's K
    by.

    Raises RequestRefused where a K is asked for and the server has one for all requests.
    """
    dialect, follows = server.dialect, server.capabilities.follows_policy
    fields = dict(dialect.extra_body)
    if sampling.top_k:
        fields["top_k"] = sampling.top_k
    if follows and dialect.policy_fields:
        return {**fields, **dialect.policy_fields(prompt, sampling)}
    if sampling.spec_k is not None:
        raise RequestRefused(
            f"The server at {server.url} follows no policy, so no request has a K of its own: "
            "start it with `specviz serve --policy FILE`."
        )
    return fields


def _local_tokenizer(server: FoundServer) -> Path | None:
    if not server.model_root:
        return None
    path = Path(server.model_root) / "tokenizer.json"
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):  # no path on this machine at all
        return None

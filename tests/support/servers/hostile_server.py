"""A server in this process that answers every path with these bytes, and two clients of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

from specviz.config import Prompt, Sampling
from specviz.errors import EngineError
from specviz.servers.client.engine import ServerEngine
from specviz.servers.client.probe import FoundServer, probe
from specviz.trace import Event, StepsRevised, Trace, fold
from tests.support.servers.scripted_server import chunk

URL = "http://server.test"
MODELS = json.dumps({"data": [{"id": "demo"}]})
HANDSHAKE = json.dumps({"tracing": True, "method": "draft_model", "num_speculative_tokens": 2})
METRICS = "".join(
    f"vllm:spec_decode_num_{name}_total 0.0\n"
    for name in ("drafts", "draft_tokens", "accepted_tokens")
)
TRACED = {"/version": '{"version": "0.32.0"}', "/specviz/handshake": HANDSHAKE, "/metrics": METRICS}

Says = str | bytes | Callable[[], AsyncIterator[bytes]] | httpx2.Response


@dataclass
class HostileServer(httpx2.AsyncBaseTransport):
    """`says`: what it answers by path; the last part of a trace's path is left out."""

    says: dict[str, Says]
    asked: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(f"{request.url.host}{request.url.path}")
        path = request.url.path
        if path.startswith("/specviz/trace/"):
            path = "/specviz/trace"
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        said = self.says.get(path, MODELS if path == "/v1/models" else httpx2.Response(404))
        if isinstance(said, httpx2.Response):
            return said
        return httpx2.Response(200, content=said() if callable(said) else said)

    async def found(self) -> tuple[FoundServer, httpx2.AsyncClient]:
        http = httpx2.AsyncClient(transport=self)
        return await probe(URL, http), http


def stream(*lines: str) -> bytes:
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def repeating(*first: bytes, then: bytes, every_s: float = 0.0) -> Callable[[], Any]:
    """`first`, and then the same for ever."""

    async def pieces() -> AsyncIterator[bytes]:
        for piece in first:
            yield piece
        while True:
            yield then
            await asyncio.sleep(every_s)

    return pieces


@dataclass
class Answered:
    """What one request gave: its trace, the reason for another fidelity, the error."""

    trace: Trace
    reason: str
    error: str | None


async def ask(
    server: HostileServer, *, max_tokens: int = 9, stall_timeout_s: float = 5.0, **options: Any
) -> Answered:
    found, http = await server.found()
    engine = ServerEngine(found, http, stall_timeout_s=stall_timeout_s, **options)
    events: list[Event] = []
    error = None
    try:
        async for event in engine.generate(Prompt("hello"), Sampling(max_tokens=max_tokens)):
            events.append(event)
    except EngineError as raised:
        error = str(raised)
    await engine.close()
    reason = "".join(event.reason for event in events if isinstance(event, StepsRevised))
    return Answered(fold(events), reason, error)


def answering(*lines: str, **more: Says) -> HostileServer:
    """A vLLM server without the plugin that answers so."""
    pages: dict[str, Says] = {"/version": '{"version": "0.32.0"}', "/metrics": METRICS}
    return HostileServer({**pages, **more, "/v1/chat/completions": stream(*lines, "[DONE]")})


def traced(records: Sequence[dict[str, Any]], *lines: str) -> HostileServer:
    """A vLLM server with the plugin."""
    trace = "".join(json.dumps(record) + "\n" for record in records)
    pages: dict[str, Says] = {**TRACED, "/specviz/trace": trace}
    return HostileServer({**pages, "/v1/chat/completions": stream(*lines, "[DONE]")})


def tokens(*ids: int, finish: str | None = None) -> str:
    return chunk("".join(f"t{one} " for one in ids), list(ids), finish)

"""A stand-in OpenAI server that misbehaves on demand; the real vLLM is in tests/integration."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

STALL = "<stall>"
CUT = "<cut>"


@dataclass
class Script:
    """What the server will say: raw SSE data lines, records of the plugin, its pages."""

    lines: list[str] = field(default_factory=list)
    records: list[dict[str, Any]] | None = None
    version: str | None = "0.32.0"
    handshake: dict[str, Any] | None = None
    speculates: bool = True
    counted: tuple[int, int, int] = (0, 0, 0)  # drafts, drafted and accepted tokens so far
    running: int = 0
    status: int = 200
    error: str = ""
    models: Any = None
    pause_s: float = 0.0
    together: int = 0  # requests that must have come before the first is answered
    requests: list[dict[str, Any]] = field(default_factory=list)


def chunk(
    text: str = "", ids: list[int] | None = None, finish: str | None = None, **extra: Any
) -> str:
    """One chat chunk as vLLM sends it."""
    choice: dict[str, Any] = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    if ids is not None:
        choice["token_ids"] = ids
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "demo"}
    return json.dumps({**body, "choices": [choice], **extra})


def usage(tokens: int, counts: dict[str, Any] | None = None) -> str:
    """The last chunk: no choices, usage and perhaps the counts."""
    body: dict[str, Any] = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "demo",
        "choices": [],
        "usage": {"prompt_tokens": 3, "completion_tokens": tokens, "total_tokens": 3 + tokens},
    }
    if counts is not None:
        body["metrics"] = {"speculative_decoding": counts}
    return json.dumps(body)


def counts(accepted: list[int], drafted: list[int], k: int) -> dict[str, Any]:
    """vLLM's per-request counts."""
    return {
        "num_spec_steps": len(accepted),
        "num_spec_tokens": k,
        "per_step_accepted": accepted,
        "per_step_drafted": drafted,
    }


@contextmanager
def serving(script: Script, port: int | None = None) -> Iterator[str]:
    """Run the stand-in on a port, a free one if none is named; yields its URL."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port or 0))
    server = uvicorn.Server(
        uvicorn.Config(_application(script), log_level="critical", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the stand-in did not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)


def _application(script: Script) -> Starlette:
    async def models(_: Request) -> Response:
        default = {"data": [{"id": "demo", "max_model_len": 64}]}
        return JSONResponse(default if script.models is None else script.models)

    async def version(_: Request) -> Response:
        if script.version is None:
            return PlainTextResponse("not found", 404)
        return JSONResponse({"version": script.version})

    async def handshake(_: Request) -> Response:
        if script.handshake is None:
            return PlainTextResponse("not found", 404)
        return JSONResponse(script.handshake)

    async def metrics(_: Request) -> Response:
        lines = ["# TYPE vllm:num_requests_running gauge"]
        lines += [f"vllm:num_requests_running {script.running}"]
        if script.speculates:
            names = ("drafts", "draft_tokens", "accepted_tokens")
            for name, total in zip(names, script.counted, strict=True):
                full = f"vllm:spec_decode_num_{name}"
                lines += [f"# TYPE {full} counter", f"{full}_total {total}.0"]
        return PlainTextResponse("\n".join(lines) + "\n")

    async def detokenize(request: Request) -> Response:
        ids = (await request.json())["tokens"]
        return JSONResponse({"prompt": "".join(f"t{token} " for token in ids)})

    async def trace(_: Request) -> Response:
        async def lines() -> AsyncIterator[str]:
            for record in script.records or []:
                yield json.dumps(record) + "\n"
            await asyncio.sleep(30)

        return StreamingResponse(lines(), media_type="application/x-ndjson")

    async def chat(request: Request) -> Response:
        script.requests.append(await request.json())
        if script.status != 200:
            return JSONResponse({"error": {"message": script.error}}, script.status)

        async def lines() -> AsyncIterator[str]:
            while len(script.requests) < script.together:
                await asyncio.sleep(0.01)
            for line in script.lines:
                if line == STALL:
                    await asyncio.sleep(30)
                elif line == CUT:
                    raise ConnectionResetError("the server dies")
                else:
                    await asyncio.sleep(script.pause_s)
                    yield f"data: {line}\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream")

    return Starlette(
        routes=[
            Route("/v1/models", models),
            Route("/version", version),
            Route("/specviz/handshake", handshake),
            Route("/specviz/trace/{key}", trace),
            Route("/metrics", metrics),
            Route("/detokenize", detokenize, methods=["POST"]),
            Route("/v1/chat/completions", chat, methods=["POST"]),
        ]
    )

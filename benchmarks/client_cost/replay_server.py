"""A stand-in for a vLLM server that replays recorded streams, so that only the client differs.

    python -m benchmarks.client_cost.replay_server RECORDING [--interval-ms 20]

Prints its port. All streams advance together, one engine step per interval, each event in its
own write and HTTP chunk, as vLLM sends it; with interval 0 as fast as the client reads.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

from aiohttp import web

from benchmarks.client_cost.recording import Recording, Stream, load_recording

NUMBER = " #"
"""Separates a recorded prompt from the number that makes it unique: some clients refuse twins."""

ADDED_UP = ("drafts", "draft_tokens", "accepted_tokens")


class Replay:
    """The streams by prompt, and the totals sent so far."""

    def __init__(self, recording: Recording, interval_s: float) -> None:
        self.model = recording.model
        self.interval_s = interval_s
        self._streams = {stream.prompt: stream for stream in recording.streams}
        self._bytes = {
            (stream.prompt, ids): [[event.encode() for event in step] for step in steps]
            for stream in recording.streams
            for ids, steps in ((True, stream.with_ids), (False, stream.without_ids))
        }
        self._tick = asyncio.Event()
        self.totals = dict.fromkeys((*ADDED_UP, "requests", "output_tokens"), 0)

    async def run(self) -> None:
        """Advance all streams by one step per interval."""
        while True:
            await asyncio.sleep(self.interval_s)
            tick, self._tick = self._tick, asyncio.Event()
            tick.set()

    async def chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        prompt = _text(body["messages"][-1]["content"]).rpartition(NUMBER)[0]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        for step in self._bytes[prompt, bool(body.get("return_token_ids"))]:
            if self.interval_s:
                await self._tick.wait()
            for event in step:
                await response.write(event)
        self._add(self._streams[prompt])
        return response

    async def metrics(self, _: web.Request) -> web.Response:
        """vLLM's counters as a server that had answered all this would show them."""
        lines = []
        for name in ADDED_UP:
            full = f"vllm:spec_decode_num_{name}_total"
            lines += [f"# TYPE {full} counter", f'{full}{{engine="0"}} {self.totals[name]}.0']
        return web.Response(text="\n".join(lines) + "\n")

    def _add(self, stream: Stream) -> None:
        self.totals["requests"] += 1
        self.totals["output_tokens"] += stream.output_tokens
        self.totals["drafts"] += stream.counts.get("num_spec_steps", 0)
        self.totals["draft_tokens"] += stream.counts.get("num_draft_tokens", 0)
        self.totals["accepted_tokens"] += stream.counts.get("num_accepted_draft_tokens", 0)


def _text(content: str | Sequence[dict[str, str]]) -> str:
    """A message's text, which clients send as a string or in parts."""
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def application(replay: Replay) -> web.Application:
    async def models(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": replay.model}]})

    async def version(_: web.Request) -> web.Response:
        return web.json_response({"version": "0.32.0"})

    async def totals(_: web.Request) -> web.Response:
        return web.json_response(replay.totals)

    async def health(_: web.Request) -> web.Response:
        return web.Response()

    app = web.Application()
    app.add_routes(
        [
            web.get("/v1/models", models),
            web.get("/version", version),
            web.get("/health", health),
            web.get("/metrics", replay.metrics),
            web.get("/totals", totals),
            web.post("/v1/chat/completions", replay.chat),
        ]
    )
    return app


async def serve(recording: Recording, interval_s: float) -> None:
    replay = Replay(recording, interval_s)
    runner = web.AppRunner(application(replay), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await replay.run() if interval_s else await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recording", type=Path)
    parser.add_argument("--interval-ms", type=float, default=20.0)
    options = parser.parse_args()
    asyncio.run(serve(load_recording(options.recording), options.interval_ms / 1000))


if __name__ == "__main__":
    main()

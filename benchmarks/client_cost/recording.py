"""Streams of a real server, recorded once and replayed to several clients.

A stream is kept as the server sent it, event by event, once with and once without token ids,
because clients ask for either.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import aiohttp

from specviz.config import Prompt, Sampling

Step = list[str]
"""The events of one engine step: its chunk; before the first one the role's chunk, after the last
one the usage and `[DONE]`."""


@dataclass(frozen=True)
class Stream:
    """One answer. `counts` is vLLM's `speculative_decoding`, empty if there is none."""

    prompt: str
    output_tokens: int
    counts: dict[str, Any]
    with_ids: list[Step]
    without_ids: list[Step]


@dataclass(frozen=True)
class Recording:
    """The answers of a server, one stream per prompt."""

    model: str
    streams: list[Stream]

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")


def load_recording(path: Path) -> Recording:
    data = json.loads(path.read_text(encoding="utf-8"))
    return Recording(data["model"], [Stream(**stream) for stream in data["streams"]])


async def record(
    url: str, model: str, prompts: Sequence[Prompt], sampling: Sampling, at_once: int = 8
) -> Recording:
    """Send every prompt to a vLLM server, twice."""
    limit = asyncio.Semaphore(at_once)

    async def one(http: aiohttp.ClientSession, prompt: Prompt) -> Stream:
        async with limit:
            ids, text = [
                await _events(http, url, {"return_token_ids": ids}, model, prompt, sampling)
                for ids in (True, False)
            ]
        last = json.loads(ids[-2].removeprefix("data: "))
        counts = (last.get("metrics") or {}).get("speculative_decoding") or {}
        tokens = last["usage"]["completion_tokens"]
        return Stream(prompt.text, tokens, counts, _steps(ids), _steps(text))

    async with aiohttp.ClientSession() as http:
        return Recording(model, await asyncio.gather(*(one(http, prompt) for prompt in prompts)))


async def _events(
    http: aiohttp.ClientSession,
    url: str,
    extra: dict[str, Any],
    model: str,
    prompt: Prompt,
    sampling: Sampling,
) -> list[str]:
    body = {
        "model": model,
        "messages": prompt.messages,
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
        **extra,
    }
    async with http.post(f"{url}/v1/chat/completions", json=body) as response:
        response.raise_for_status()
        text = await response.text()
    return [f"{event}\n\n" for event in text.split("\n\n") if event]


def _steps(events: Sequence[str]) -> list[Step]:
    """Events grouped by engine step."""
    role, *chunks, usage, done = events
    return [[role, chunks[0]], *([chunk] for chunk in chunks[1:-1]), [chunks[-1], usage, done]]

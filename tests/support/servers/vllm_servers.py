"""Real vLLM servers over the demo family, and a client."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest

from specviz.methods import Method
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server, start_server
from specviz.servers.vllm.dialect import LAUNCHER
from specviz.servers.vllm.tracing.keys import new_key
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET

K = 4
START_TIMEOUT_S = 240.0
TRACE_WAIT_S = 10.0

CODE_PROMPT = "def add(a, b):\n    return"


DRAFT = ServerSpec(LAUNCHER, str(DEMO_TARGET), Method.DRAFT_MODEL, str(DEMO_DRAFT), K)
BASELINE = ServerSpec(LAUNCHER, str(DEMO_TARGET))
NGRAM = ServerSpec(LAUNCHER, str(DEMO_TARGET), Method.NGRAM, k=K)
STOCK = replace(DRAFT, trace=False)
"""Draft model, plain decoding and n-gram lookup, traced; and without the plugin and its fixes."""


def server_fixture(spec: ServerSpec, scope: Literal["session", "module"]) -> Any:
    """A fixture: the server of `spec`, started when a test first asks for it."""

    @pytest.fixture(scope=scope)
    def server(log_dir: Path) -> Iterator[Server]:
        with running(spec, log_dir) as started:
            yield started

    return server


@contextmanager
def running(spec: ServerSpec, log_dir: Path) -> Iterator[Server]:
    server = start_server(spec, log_dir=log_dir, on_progress=print, timeout_s=START_TIMEOUT_S)
    try:
        yield server
    finally:
        server.stop()


@dataclass
class Answer:
    """What came back: streamed ids chunk by chunk, the last chunk, the trace's lines."""

    chunks: list[list[int]] = field(default_factory=list)
    last: dict[str, Any] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)

    @property
    def token_ids(self) -> list[int]:
        return [token for chunk in self.chunks for token in chunk]

    @property
    def traced_ids(self) -> list[int]:
        return [token for line in self.lines for token in line["emitted"]]


Ask = Callable[..., Answer]


def send(server: Server, prompt: Any = CODE_PROMPT, *, traced: bool = True, **body: Any) -> Answer:
    """Send one streamed completion and, unless `traced` is False, read its trace."""
    answer, key = Answer(), new_key()
    headers = {"X-Request-Id": key} if traced else {}
    request = {
        "model": server.spec.model,
        "prompt": prompt,
        "max_tokens": 40,
        "temperature": 0.0,
        "ignore_eos": True,
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_token_ids": True,
        **body,
    }
    reader = threading.Thread(target=read_trace, args=(server, key, answer, request["max_tokens"]))
    if traced:
        reader.start()
    with httpx2.stream(
        "POST", f"{server.url}/v1/completions", json=request, headers=headers, timeout=120.0
    ) as response:
        if response.status_code != 200:
            pytest.fail(f"status {response.status_code}: {response.read().decode()}")
        for line in response.iter_lines():
            if line.startswith("data: {"):
                answer.last = json.loads(line.removeprefix("data: "))
                answer.chunks += [
                    choice["token_ids"]
                    for choice in answer.last["choices"]
                    if choice.get("token_ids")
                ]
    if traced:
        reader.join(TRACE_WAIT_S)
    return answer


def read_trace(server: Server, key: str, answer: Answer, num_tokens: int) -> None:
    """Read until the trace covers `num_tokens`."""
    url = f"{server.url}/specviz/trace/{key}"
    timeout = httpx2.Timeout(10.0, read=START_TIMEOUT_S)
    with httpx2.stream("GET", url, timeout=timeout) as response:
        response.raise_for_status()
        for text in response.iter_lines():
            if text:
                answer.lines.append(json.loads(text))
            if len(answer.traced_ids) >= num_tokens:
                return


def read_counters(server: Server) -> dict[str, float]:
    """vLLM's own speculation counters: drafts, draft_tokens, accepted_tokens."""
    text = httpx2.get(f"{server.url}/metrics", timeout=30.0).text
    counters = {}
    for name in ("drafts", "draft_tokens", "accepted_tokens"):
        prefix = f"vllm:spec_decode_num_{name}_total"
        counters[name] = sum(
            float(line.rsplit(" ", 1)[1])
            for line in text.splitlines()
            if line.startswith((f"{prefix}{{", f"{prefix} "))
        )
    return counters

"""The seam between kinds of servers: another kind's words through the same client and launcher."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest

from specviz.config import EngineKind, Prompt, Sampling
from specviz.errors import ServerStartFailed, UsageError
from specviz.methods import Method
from specviz.servers.capabilities import Capabilities
from specviz.servers.client.engine import ServerEngine, open_server
from specviz.servers.client.probe import FoundServer, probe
from specviz.servers.dialect import Dialect, Extras, SpecCounts
from specviz.servers.kinds import KINDS, OPENAI, default_spec, is_started, launcher_of
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import start_server
from specviz.servers.metrics import SpecCounters, read_counters
from specviz.servers.timing.timed_server import TimedServer, open_timed_server
from specviz.servers.vllm.dialect import LAUNCHER, VLLM
from specviz.trace import Fidelity, Origin, Trace, fold
from tests.support.servers.scripted_server import Script, chunk, counts, serving, usage

PROMPT, SAMPLING = Prompt("hello"), Sampling(max_tokens=9)
DONE = "[DONE]"
K = 2


def cumulative_extras(data: Mapping[str, Any]) -> Extras:
    """Token ids under another name; drafted and accepted so far in every chunk."""
    timings = data.get("timings") or {}
    spec = (timings["draft_n"], timings["draft_n_accepted"]) if timings else None
    return Extras(token_ids=tuple(data["tokens"]) if "tokens" in data else None, spec=spec)


def steps_of(spec: Sequence[Any]) -> SpecCounts | None:
    """A step ends where the number of drafted tokens grows."""
    totals = [(0, 0), *dict.fromkeys(spec)]
    steps = [(now[0] - before[0], now[1] - before[1]) for before, now in pairwise(totals)]
    return SpecCounts(tuple(a for _, a in steps), tuple(d for d, _ in steps), K) if steps else None


def prefixed_counters(page: str) -> SpecCounters | None:
    return read_counters(page, "other:spec_decode_num_")


async def _text(_http: object, _url: str, _model: str, token_id: int) -> str:
    return f"<{token_id}>"


OTHER = replace(
    VLLM,
    name="Other",
    request_id=lambda: "other-1",
    extra_body={"return_tokens": True, "timings_per_token": True},
    uncached=lambda: {"cache_prompt": False},
    read_extras=cumulative_extras,
    counts=steps_of,
    counters=prefixed_counters,
    prefix_caching=lambda _: True,
    detokenize=_text,
    trace=None,
)
"""A kind with other fields: one token per chunk, counts that add up, other metric names."""

LINES = [
    chunk("<10>", tokens=[10]),
    chunk("<11>", tokens=[11], timings={"draft_n": 2, "draft_n_accepted": 1}),
    chunk("<12>", tokens=[12], timings={"draft_n": 2, "draft_n_accepted": 1}),
    chunk("<13>", tokens=[13], finish="stop", timings={"draft_n": 4, "draft_n_accepted": 1}),
    usage(4),
    DONE,
]


@asynccontextmanager
async def found(url: str, dialect: Dialect) -> AsyncIterator[tuple[FoundServer, Any]]:
    """The stand-in, as if it had been recognised as this kind."""
    async with httpx2.AsyncClient() as http:
        yield replace(await probe(url, http), dialect=dialect, capabilities=Capabilities()), http


async def test_another_kinds_fields_give_the_same_steps() -> None:
    script = Script(lines=LINES)
    with serving(script) as url:
        async with found(url, OTHER) as (server, http):
            engine = ServerEngine(server, http, method=Method.DRAFT_MODEL, k=K)
            trace: Trace = fold([event async for event in engine.generate(PROMPT, SAMPLING)])
            await engine.close()
    assert trace.request_id == "other-1"
    assert trace.fidelity is Fidelity.COUNTED
    assert [token.text for token in trace.emitted] == ["<10>", "<11>", "<12>", "<13>"]
    assert [token.origin for token in trace.emitted] == [
        Origin.TARGET, Origin.ACCEPTED, Origin.RECOVERED, Origin.RECOVERED,
    ]  # fmt: skip
    assert script.requests[0]["timings_per_token"] is True
    assert "return_token_ids" not in script.requests[0]


async def test_another_kinds_fields_give_the_same_sample() -> None:
    script = Script(lines=LINES)
    with serving(script) as url:
        async with found(url, OTHER) as (server, http):
            engine = TimedServer(server, http)
            assert await engine.prefix_caching() is True
            assert await engine.counters() is None  # the stand-in counts under vLLM's names
            timed = await engine.sample(PROMPT, SAMPLING)
            await engine.close()
    assert (timed.per_step_drafted, timed.per_step_accepted) == ((2, 2), (1, 0))
    assert script.requests[0]["cache_prompt"] is False
    assert "cache_salt" not in script.requests[0]


def test_counters_differ_by_their_prefix_only() -> None:
    lines = [
        f"other:spec_decode_num_{name}_total {value}"
        for name, value in (("drafts", 2), ("draft_tokens", 4), ("accepted_tokens", 1))
    ]
    assert prefixed_counters("\n".join(lines) + "\n") == SpecCounters(2, 4, 1, ())


async def test_vllm_is_recognised_by_its_version_or_the_plugin() -> None:
    async with httpx2.AsyncClient() as http:
        with serving(Script(version="0.32.0")) as url:
            server = await probe(url, http)
            assert (server.dialect, server.software) == (VLLM, "vLLM 0.32.0")
        handshake = {"tracing": True, "method": "ngram", "num_speculative_tokens": 3}
        with serving(Script(version=None, handshake=handshake)) as url:
            server = await probe(url, http)
            assert (server.dialect, server.software) == (VLLM, None)
            assert server.capabilities.settled(None, None) == (Method.NGRAM, 3)
            assert server.advice is None
        with serving(Script(version=None)) as url:
            server = await probe(url, http)
            assert (server.dialect, server.software) == (OPENAI, None)
            assert server.advice is not None and "vLLM shows" in server.advice


async def test_what_a_gateway_passes_on_is_read_and_not_asked_for() -> None:
    lines = [chunk("a", [10]), chunk("b", [11], "stop"), usage(2, counts([0], [2], 2)), DONE]
    script = Script(lines=lines, version=None)
    with serving(script) as url:
        timed = await open_timed_server(url)
        sample = await timed.sample(PROMPT, SAMPLING)
        await timed.close()
        live = await open_server(url)
        trace = fold([event async for event in live.generate(PROMPT, SAMPLING)])
        await live.close()
    assert sample.per_step_drafted == (2,)
    assert trace.fidelity is Fidelity.COUNTED
    assert all("return_token_ids" not in request for request in script.requests)


def test_an_engine_has_a_launcher_or_is_attached() -> None:
    for engine in EngineKind:
        if not is_started(engine):
            with pytest.raises(UsageError, match="cannot start a server"):
                launcher_of(engine)
        else:
            assert default_spec(Method.BASELINE, None, engine=engine).launcher is launcher_of(
                engine
            )
    assert is_started(EngineKind.VLLM) and not is_started(EngineKind.SGLANG)
    assert all(kind.launcher is None or kind.launcher.name == kind.name for kind in KINDS)


SERVER = """
import http.server, json, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer({"data": [{"id": "m"}]} if self.path == "/v1/models" else {})
    def do_POST(self):
        assert self.headers["Authorization"] == "Bearer " + os.environ["OTHER_KEY"]
        self.answer({})
    def answer(self, body):
        data = json.dumps(body).encode()
        status = 404 if self.path == "/health" else 200
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
if sys.argv[2:] == ["fail"]:
    sys.exit(3)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def other_launcher(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Callable[[], ServerSpec]:
    monkeypatch.setenv("OTHER_KEY", "secret")
    launcher = replace(
        LAUNCHER,
        name="Other.cpp",
        command=lambda spec: [sys.executable, "-c", SERVER, str(spec.port), *arguments],
        environment=lambda _: dict(os.environ),
        ready_path="/ready",
        stage=lambda log: f"reading {len(log)} characters",
        failure_reason=lambda _: "out of luck." if arguments else None,
        api_key_variable="OTHER_KEY",
    )
    return lambda: ServerSpec(launcher, "model")


def test_another_kind_starts_by_its_own_command_and_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = other_launcher(monkeypatch)()
    notes: list[str] = []
    server = start_server(spec, log_dir=tmp_path, on_progress=notes.append, timeout_s=60)
    server.stop()
    assert server.log_path.name.startswith("other.cpp-baseline-")
    assert notes[-1].startswith("ready")
    assert any("reading" in note for note in notes)


def test_another_kinds_failure_is_in_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = other_launcher(monkeypatch, "fail")()
    with pytest.raises(ServerStartFailed, match=r"Other\.cpp did not start: out of luck\."):
        start_server(spec, log_dir=tmp_path, on_progress=lambda _: None, timeout_s=60)
    with pytest.raises(UsageError, match=r"Other\.cpp does not have the method swift"):
        replace(spec, method=Method.SWIFT)

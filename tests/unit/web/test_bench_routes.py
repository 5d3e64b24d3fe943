"""Benchmarks over HTTP: the routes by themselves, and as a command uses them."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from specviz.bench.plan.toml import parse_plan
from specviz.bench.progress import BenchPhase
from specviz.config import Prompt, RunConfig, RunStatus, Sampling
from specviz.errors import AppUnreachable, StoreError, UsageError
from specviz.opening import TimedArm
from specviz.remote import app as remote_app
from specviz.remote.benchmarks import RemoteBoard
from specviz.remote.token import SECRET_HEADER
from specviz.runtime import Runtime, opened
from specviz.sample import Sample
from specviz.store.benchmarks.reads import read_benchmark, read_benchmarks
from specviz.trace import Fidelity
from specviz.web import benchmarks
from specviz.web.guard import Guard
from tests.support.store.made import made


class Instant:
    """Answers after `seconds`, which a test may change."""

    seconds = 0.0

    async def sample(self, prompt: Prompt, sampling: Sampling) -> Sample:
        await asyncio.sleep(self.seconds)
        return Sample(
            uuid.uuid4().hex, Fidelity.COUNTED, "hi", "stop", 1.0, 3.0, (1.0, 3.0), (1, 2),
            (4, 5, 6), 3, 2, (), (),
        )  # fmt: skip

    async def counters(self) -> None:
        return None

    async def prefix_caching(self) -> None:
        return None

    async def close(self) -> None:
        return None


@pytest.fixture
def engine() -> Instant:
    return Instant()


@pytest.fixture
def runtime(tmp_path: Path, engine: Instant) -> Iterator[Runtime]:
    @contextmanager
    def arms() -> Iterator[Any]:
        async def open_arm(config: RunConfig, note: Callable[[str], None]) -> TimedArm:
            return TimedArm(engine, config, None, engine.counters, lambda: None)

        yield open_arm

    with opened(made(tmp_path / "runs.duckdb"), timed_arms=arms) as current:
        yield current


@pytest.fixture
def client(runtime: Runtime) -> TestClient:
    return TestClient(
        Starlette(routes=benchmarks.routes),
        base_url="http://127.0.0.1",
        client=("127.0.0.1", 1),
    )


@pytest.fixture
def plan_text(tmp_path: Path) -> str:
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("\n".join(f"What comes after {index}?" for index in range(8)))
    return f"""
        name = "Over HTTP"
        warmup = 0
        [prompts]
        file = "{prompts}"
        format = "text"
        [[arms]]
        method = "baseline"
    """


@pytest.fixture
def board(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> RemoteBoard:
    """A command's view of the app, without a socket between."""

    routes = Starlette(routes=benchmarks.routes)
    monkeypatch.setattr(
        remote_app,
        "client",
        lambda url, token: TestClient(routes, "http://127.0.0.1", client=("127.0.0.1", 1)),
    )
    return RemoteBoard("http://app/")


def started(client: TestClient, plan_text: str) -> str:
    answer = client.post("/api/benchmarks", json={"plan": plan_text})
    assert answer.status_code == 200
    return answer.json()["benchmark_id"]


def error_of(answer: httpx2.Response, status: int) -> str:
    assert answer.status_code == status
    (sentence,) = answer.json().values()
    assert len(sentence.splitlines()) == 1
    return sentence


def test_a_plan_is_measured_and_reported(client, runtime: Runtime, plan_text: str) -> None:
    benchmark_id = started(client, plan_text)
    assert runtime.benchmarks.wait(benchmark_id, 60)
    progress = client.get(f"/api/benchmarks/{benchmark_id}").json()
    assert (progress["phase"], progress["done"], progress["name"]) == ("finished", 8, "Over HTTP")
    found = client.get(f"/api/benchmarks/{benchmark_id}/results").json()
    assert found["status"] == "finished"
    assert found["requests"] == {"planned": 8, "finished": 8}
    (cell,) = found["results"]["cells"]
    assert (cell["requests"], cell["acceptance"]) == (8, None)


def test_pause_unpause_cancel_and_resume(client, runtime: Runtime, engine, plan_text: str) -> None:
    engine.seconds = 0.1
    benchmark_id = started(client, plan_text)

    def act(action: str) -> None:
        answer = client.post(f"/api/benchmarks/{benchmark_id}/{action}")
        assert answer.json() == {"benchmark_id": benchmark_id}

    def until(phase: BenchPhase) -> None:
        deadline = time.monotonic() + 60
        while runtime.benchmarks.progress(benchmark_id).phase is not phase:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    act("pause")
    until(BenchPhase.PAUSED)
    act("unpause")
    until(BenchPhase.RUNNING)
    act("cancel")
    until(BenchPhase.CANCELLED)
    runtime.benchmarks.wait(benchmark_id, 60)
    engine.seconds = 0.0
    act("resume")
    assert runtime.benchmarks.wait(benchmark_id, 60)
    assert runtime.store.read(read_benchmark, benchmark_id).status is RunStatus.FINISHED
    assert "nothing is missing" in error_of(
        client.post(f"/api/benchmarks/{benchmark_id}/resume"), 400
    )


def test_other_web_pages_may_do_nothing(runtime: Runtime, plan_text: str) -> None:
    app = Guard(Starlette(routes=benchmarks.routes), frozenset())
    secret = {SECRET_HEADER: runtime.secret}
    client = TestClient(app, "http://127.0.0.1", client=("127.0.0.1", 1), headers=secret)
    origin = {"Origin": "http://127.0.0.1:8501"}
    plan = {"plan": plan_text}
    answers = [
        client.post("/api/benchmarks", json=plan, headers=origin),
        client.post("/api/benchmarks/b/cancel", headers=origin),
        client.get("/api/benchmarks/b", headers=origin),
        client.get("/api/benchmarks/b/results", headers=origin),
    ]
    for answer in answers:
        assert "not for web pages" in error_of(answer, 403)
    assert runtime.store.read(read_benchmarks) == []


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "The body must be"),
        (b"\xff", "The body must be"),
        (b"[]", "The body must be"),
        (b"5", "The body must be"),
        (b"{}", "The body must be"),
        (b'{"plan": 5}', "not TOML"),
        (b'{"plan": ""}', "no arms"),
        (b'{"plan": "[[arms]]"}', "names no method"),
        (b'{"plan": "k = 3"}', "'k'"),
    ],
)
def test_a_body_that_is_no_plan_is_refused_with_a_sentence(
    client, runtime: Runtime, body: bytes, says: str
) -> None:
    assert says in error_of(client.post("/api/benchmarks", content=body), 400)
    assert runtime.store.read(read_benchmarks) == []


def test_what_there_is_not(client) -> None:
    assert client.get("/api/benchmarks/nowhere").json() is None
    assert "no benchmark nowhere" in error_of(client.get("/api/benchmarks/nowhere/results"), 500)
    assert "no benchmark nowhere" in error_of(client.post("/api/benchmarks/nowhere/resume"), 500)
    assert "no action explode" in error_of(client.post("/api/benchmarks/nowhere/explode"), 400)
    assert client.get("/api/benchmarks/nowhere/cancel").status_code == 405


def test_a_command_starts_follows_and_reads_the_apps_benchmark(
    board: RemoteBoard, runtime: Runtime, plan_text: str
) -> None:
    benchmark_id = board.start(parse_plan(plan_text))
    while not board.wait(benchmark_id, 0.02):
        pass
    runtime.benchmarks.wait(benchmark_id, 60)
    assert board.progress(benchmark_id) == runtime.benchmarks.progress(benchmark_id)
    assert board.document(benchmark_id)["requests"]["finished"] == 8
    assert board.progress("nowhere") is None and board.wait("nowhere", 0)


def test_a_command_cancels_and_resumes_the_apps_benchmark(
    board: RemoteBoard, runtime: Runtime, engine: Instant, plan_text: str
) -> None:
    engine.seconds = 0.2
    benchmark_id = board.start(parse_plan(plan_text))
    assert not board.wait(benchmark_id, 0)
    with pytest.raises(UsageError, match="Over HTTP is running"):
        board.start(parse_plan(plan_text))
    board.cancel(benchmark_id)
    runtime.benchmarks.wait(benchmark_id, 60)
    assert board.progress(benchmark_id).phase is BenchPhase.CANCELLED
    engine.seconds = 0.0
    board.resume(benchmark_id)
    runtime.benchmarks.wait(benchmark_id, 60)
    assert board.document(benchmark_id)["status"] == "finished"
    with pytest.raises(StoreError, match="no benchmark nowhere"):
        board.document("nowhere")


def test_an_app_that_is_not_there_is_one_sentence() -> None:
    says = r"http://127\.0\.0\.1:9 does not answer.* can be resumed"
    with pytest.raises(AppUnreachable, match=says) as raised:
        RemoteBoard("http://127.0.0.1:9").progress("b")
    assert "\n" not in str(raised.value)

"""The routes as a browser and a program use them, over a real store and replayed arms."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus, Sampling
from specviz.engines.base import Engine
from specviz.engines.replay import ReplayEngine, events_of
from specviz.methods import Method
from specviz.remote.token import SECRET_HEADER
from specviz.runtime import Runtime, opened
from specviz.store import RecordedRequest, recording_to_dict
from specviz.store.runs.runs import read_requests, read_trace
from specviz.trace import EmittedToken, Fidelity, Origin, Step, Trace
from specviz.web import ingest, watch
from specviz.web.guard import Guard
from tests.support.store.made import made

PROMPT = Prompt("hello")
CONFIG = RunConfig(EngineKind.VLLM, Method.BASELINE)


def trace(request_id: str, tokens: int) -> Trace:
    steps = tuple(
        Step(index, float(index), (), (EmittedToken(index, index, f"t{index} ", Origin.TARGET),))
        for index in range(tokens)
    )
    return Trace(request_id, Fidelity.COUNTED, steps, (1,), 1.0, float(tokens), "stop")


STOCK = Trace(
    "stock",
    Fidelity.INFERRED,
    (
        Step(
            0,
            1.0,
            (),
            tuple(
                EmittedToken(place, token, f"t{token} ", origin)
                for place, (token, origin) in enumerate(
                    [(0, Origin.ACCEPTED), (9, Origin.ACCEPTED), (2, Origin.UNKNOWN)]
                )
            ),
        ),
    ),
    (1,),
    1.0,
    4.0,
    "stop",
)
"""A chunk of three tokens of a server that does not report its drafts."""


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    numbers = iter(range(100))

    async def open_arm(config: RunConfig, note: Callable[[str], None]) -> tuple[Engine, RunConfig]:
        return ReplayEngine(trace(f"r{next(numbers)}", 30), None), config

    with opened(made(tmp_path / "runs.duckdb"), open_arm=open_arm) as runtime:
        yield runtime


@pytest.fixture
def client(runtime: Runtime) -> TestClient:
    routes = [*watch.routes, *ingest.routes]
    return TestClient(
        Guard(Starlette(routes=routes), frozenset({"testserver"})),  # of its WebSockets
        base_url="http://127.0.0.1",
        client=("127.0.0.1", 1),
        headers={SECRET_HEADER: runtime.secret},
    )


def messages(client: TestClient, path: str, **options: Any) -> list[dict[str, Any]]:
    """Everything the socket says until `end`."""
    received = []
    with client.websocket_connect(path, **options) as socket:
        while True:
            message = json.loads(socket.receive_text())
            received.append(message)
            if message["type"] == "end":
                return received


def events(received: list[dict[str, Any]], arm: str) -> list[dict[str, Any]]:
    parts = [part for message in received for part in message.get("arms", []) if part["id"] == arm]
    return [event for part in parts for event in part.get("events", [])]


def test_a_job_is_followed_to_its_end(client: TestClient, runtime: Runtime) -> None:
    job = runtime.jobs.start(PROMPT, [CONFIG, CONFIG])
    received = messages(client, f"/ws/jobs/{job.job_id}")
    assert received[0]["type"] == "hello"
    for arm in job.arms:
        kinds = [event["type"] for event in events(received, arm.run_id)]
        assert kinds == ["started", *["step"] * 30, "finished"]
    assert received[-2]["verdict"] == {
        "ok": True,
        "text": "output equals the baseline, 30 of 30 tokens",
    }


def test_an_arm_is_introduced_with_where_it_runs_and_what_it_gives_up(
    client: TestClient, runtime: Runtime
) -> None:
    options = {"acceptance": "typical", "shape": "tree"}
    medusa = RunConfig(
        EngineKind.EMBEDDED, Method.MEDUSA, 5, Sampling(temperature=0.8), options=options
    )
    greedy = replace(medusa, sampling=Sampling())
    in_app = replace(CONFIG, engine=EngineKind.EMBEDDED)
    job = runtime.jobs.start(PROMPT, [CONFIG, in_app, medusa, greedy])
    hello, *rest = messages(client, f"/ws/jobs/{job.job_id}")
    shown = [(arm["title"], arm["badge"], arm["lossless"], arm["rule"]) for arm in hello["arms"]]
    assert shown == [
        ("baseline · vllm", None, True, None),
        ("baseline · embedded", "in the app", True, None),
        ("medusa · K 5 · tree · typical, not lossless (1)", "in the app", False, "typical"),
        ("medusa · K 5 · tree · typical, not lossless (2)", "in the app", False, None),
    ]
    assert rest[-2]["verdict"]["text"].startswith("typical acceptance is not lossless; sampled")


def test_a_browser_that_reconnects_gets_the_rest_and_nothing_twice(
    client: TestClient, runtime: Runtime
) -> None:
    job = runtime.jobs.start(PROMPT, [CONFIG])
    job.done.wait(60)
    arm = job.arms[0].run_id
    rest = events(messages(client, f"/ws/jobs/{job.job_id}?seen={arm}:30"), arm)
    assert [event.get("index") for event in rest] == [29, None]


def test_a_stored_run_and_its_group_replay_the_same_events(
    client: TestClient, runtime: Runtime
) -> None:
    job = runtime.jobs.start(PROMPT, [CONFIG, CONFIG])
    job.done.wait(60)
    arm = job.arms[0].run_id
    live = events(messages(client, f"/ws/jobs/{job.job_id}"), arm)
    assert events(messages(client, f"/ws/runs/{arm}"), arm) == live
    group = messages(client, f"/ws/groups/{job.job_id}")
    assert [one["id"] for one in group[0]["arms"]] == [one.run_id for one in job.arms]


@pytest.mark.parametrize("path", ["/ws/jobs/nothing", "/ws/runs/nothing", "/ws/groups/nothing"])
def test_what_is_not_there_closes_with_a_reason(client: TestClient, path: str) -> None:
    with client.websocket_connect(path) as socket, pytest.raises(WebSocketDisconnect) as closed:
        socket.receive_text()
    assert closed.value.code == 4404
    assert closed.value.reason


@pytest.mark.parametrize("kind", ["jobs", "groups"])
def test_an_unexpected_error_reaches_the_page_as_a_sentence_that_names_it(
    client: TestClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    def fail(*_: object) -> None:
        raise IndexError("list index out of range")

    job = runtime.jobs.start(PROMPT, [CONFIG, CONFIG])
    job.done.wait(60)
    monkeypatch.setattr(watch, "verdict_of", fail)
    with client.websocket_connect(f"/ws/{kind}/{job.job_id}") as socket:
        while (message := json.loads(socket.receive_text()))["type"] != "failed":
            assert message["type"] in ("hello", "batch")
        with pytest.raises(WebSocketDisconnect):
            socket.receive_text()
    assert "IndexError: list index out of range" in message["sentence"]
    assert "kept under Runs" in message["sentence"]


def test_a_stock_servers_chunks_that_part_from_the_baseline_are_shown(
    client: TestClient, runtime: Runtime
) -> None:
    for run_id, config, events in (
        ("plain", CONFIG, events_of(trace("plain", 4))),
        ("stock", replace(CONFIG, method=Method.NGRAM, k=3), events_of(STOCK)),
    ):
        run = Run(run_id, "group", config, RunStatus.FINISHED, datetime.now(UTC))
        request = RecordedRequest(PROMPT, tuple(events), RunStatus.FINISHED, run.started_at)
        runtime.store.ingest(run, [request])
    received = messages(client, "/ws/groups/group")
    assert received[-2]["verdict"]["text"].startswith("first difference at token 2")


def test_another_sites_page_may_not_watch(client: TestClient, runtime: Runtime) -> None:
    job = runtime.jobs.start(PROMPT, [CONFIG])
    headers = {"origin": "http://evil.example", "host": "127.0.0.1:8501"}
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(f"/ws/jobs/{job.job_id}", headers=headers) as socket,
    ):
        socket.receive_text()


def test_a_run_from_another_process_is_stored_once(client: TestClient, runtime: Runtime) -> None:
    run = Run("run-1", "run-1", CONFIG, RunStatus.FINISHED, datetime.now(UTC), datetime.now(UTC))
    stored = trace("request-1", 5)
    request = RecordedRequest(
        PROMPT, tuple(events_of(stored)), RunStatus.FINISHED, datetime.now(UTC)
    )
    body = recording_to_dict(run, [request])
    assert client.post("/api/ingest", json=body).json() == {"run_id": "run-1", "stored": True}
    assert client.post("/api/ingest", json=body).json() == {"run_id": "run-1", "stored": False}
    assert runtime.store.read(read_trace, "request-1") == stored


def test_a_run_that_is_posted_many_times_at_once_is_stored_once(
    client: TestClient, runtime: Runtime
) -> None:
    run = Run("run-1", "run-1", CONFIG, RunStatus.FINISHED, datetime.now(UTC), datetime.now(UTC))
    request = RecordedRequest(
        PROMPT, tuple(events_of(trace("r-1", 5))), RunStatus.FINISHED, run.started_at
    )
    body = recording_to_dict(run, [request])
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: client.post("/api/ingest", json=body).json(), range(8)))
    assert sorted(answer["stored"] for answer in answers) == [False] * 7 + [True]
    assert len(runtime.store.read(read_requests, "run-1")) == 1


@pytest.mark.parametrize("body", ["{", "[]", '{"run": 5}'])
def test_a_body_that_is_no_run_is_refused_with_a_sentence(client: TestClient, body: str) -> None:
    response = client.post("/api/ingest", content=body)
    assert response.status_code == 400
    assert "not a recorded run" in response.json()["error"]


def test_a_web_page_may_not_post_runs(client: TestClient) -> None:
    response = client.post("/api/ingest", content="{}", headers={"origin": "http://evil.example"})
    assert response.status_code == 403

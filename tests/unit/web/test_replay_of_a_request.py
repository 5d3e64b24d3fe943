"""A run with several requests: each of them can be replayed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus
from specviz.engines.replay import events_of
from specviz.methods import Method
from specviz.runtime import opened
from specviz.store import RecordedRequest
from specviz.store.exchange import import_file
from specviz.trace import EmittedToken, Fidelity, Origin, Step, Trace
from specviz.web import watch
from tests.support.store.made import made

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def recorded(place: int) -> RecordedRequest:
    step = Step(0, 1.0, (), (EmittedToken(0, 0, f"answer {place}", Origin.TARGET),))
    trace = Trace(f"q{place}", Fidelity.COUNTED, (step,), (1,), 1.0, 1.0, "stop")
    at = NOON + timedelta(seconds=place)
    return RecordedRequest(
        Prompt(f"prompt {place}"), tuple(events_of(trace)), RunStatus.FINISHED, at
    )


DATA = Path(__file__).parents[1] / "store" / "data"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with opened(made(tmp_path / "runs.duckdb")) as runtime:
        config = RunConfig(EngineKind.VLLM, Method.BASELINE)
        run = Run("r", "g", config, RunStatus.FINISHED, NOON)
        runtime.store.ingest(run, [recorded(1), recorded(0)])
        yield TestClient(Starlette(routes=watch.routes))


@pytest.mark.parametrize(
    ("path", "place"), [("/ws/runs/r", 0), ("/ws/runs/r/0", 0), ("/ws/groups/g/1", 1)]
)
def test_requests_are_counted_in_the_order_they_were_sent(
    client: TestClient, path: str, place: int
) -> None:
    with client.websocket_connect(path) as socket:
        assert socket.receive_json()["prompt"] == f"prompt {place}"
        assert f"answer {place}" in socket.receive_text()


def test_a_request_that_is_not_there_is_said(client: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect) as end, client.websocket_connect("/ws/runs/r/2") as on:
        on.receive_text()
    assert "Nothing is stored of request 3" in end.value.reason


def test_a_request_that_another_tool_logged(tmp_path: Path) -> None:
    with opened(made(tmp_path / "other.duckdb")) as runtime:
        (log,) = import_file(runtime.store, DATA / "specspecs-log.zip").stored["result"]
        (dump,) = import_file(runtime.store, DATA / "llama-spec-dump.jsonl").stored["result"]
        client = TestClient(Starlette(routes=watch.routes))
        with client.websocket_connect(f"/ws/logged/{log}/0") as on:
            hello, batch, end = (on.receive_json() for _ in range(3))
        (arm,), (part,) = hello["arms"], batch["arms"]
        assert (arm["fidelity"], arm["k"], arm["method"]) == ("logged", None, None)
        assert part["events"][0]["emitted"][0]["text"] == "[382]"
        assert {token["target_prob"] for token in part["events"][0]["drafted"]} == {None}
        assert end == {"type": "end"}
        for path in (f"/ws/logged/{dump}/0", f"/ws/logged/{log}/9", "/ws/logged/none/0"):
            with client.websocket_connect(path) as on:
                assert on.receive_json()["type"] == "failed"

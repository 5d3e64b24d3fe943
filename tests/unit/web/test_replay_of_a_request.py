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
from specviz.trace import EmittedToken, Fidelity, Origin, Step, Trace
from specviz.web import watch

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def recorded(place: int) -> RecordedRequest:
    step = Step(0, 1.0, (), (EmittedToken(0, 0, f"answer {place}", Origin.TARGET),))
    trace = Trace(f"q{place}", Fidelity.COUNTED, (step,), (1,), 1.0, 1.0, "stop")
    at = NOON + timedelta(seconds=place)
    return RecordedRequest(
        Prompt(f"prompt {place}"), tuple(events_of(trace)), RunStatus.FINISHED, at
    )


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with opened(tmp_path / "runs.duckdb") as runtime:
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

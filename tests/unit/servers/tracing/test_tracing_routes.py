"""The two routes in an app of their own, over a folder that the test fills."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from specviz.servers.vllm.tracing import routes, spool
from specviz.servers.vllm.tracing.keys import new_key


def client(folder: Path, api_key: list[str] | None = None) -> TestClient:
    app = FastAPI()
    app.state.args = SimpleNamespace(api_key=api_key)
    routes.TraceRoutes(folder).attach_router(app)
    return TestClient(app)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "IDLE_LIMIT_S", 0.1)
    monkeypatch.delenv("VLLM_API_KEY", raising=False)


def test_without_a_report_the_handshake_says_so(tmp_path: Path) -> None:
    handshake = client(tmp_path).get("/specviz/handshake").json()
    assert handshake["tracing"] is False and "did not load" in handshake["reason"]


def test_the_handshake_is_the_workers(tmp_path: Path) -> None:
    spool.write_handshake(tmp_path, {"tracing": True, "method": "ngram"})
    assert client(tmp_path).get("/specviz/handshake").json()["method"] == "ngram"


@pytest.mark.parametrize(
    ("query", "lines"), [("", "0\n1\n2\n"), ("?from=2", "2\n"), ("?from=9", "")]
)
def test_a_trace_is_served_from_a_line_on(tmp_path: Path, query: str, lines: str) -> None:
    key = new_key()
    spool.trace_path(tmp_path, key).write_text("0\n1\n2\n")
    assert client(tmp_path).get(f"/specviz/trace/{key}{query}").text == lines


def test_a_key_that_is_none_is_not_found(tmp_path: Path) -> None:
    assert client(tmp_path).get("/specviz/trace/handshake").status_code == 404


def test_the_servers_api_key_guards_the_routes(tmp_path: Path) -> None:
    guarded = client(tmp_path, ["secret", "second"])
    url = "/specviz/handshake"
    assert guarded.get(url).status_code == 401
    assert guarded.get(url, headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert guarded.get(url, headers={"Authorization": "Basic secret"}).status_code == 401
    assert guarded.get(url, headers={"Authorization": "Bearer second"}).status_code == 200
    assert guarded.get(f"/specviz/trace/{new_key()}").status_code == 401


def test_a_trace_that_does_not_begin_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that was never sent used to be waited for as long as a silent one: 600 s."""
    monkeypatch.setattr(routes, "START_LIMIT_S", 0.05)
    monkeypatch.setattr(routes, "IDLE_LIMIT_S", 600.0)
    answer = client(tmp_path).get(f"/specviz/trace/{new_key()}")
    assert (answer.status_code, answer.text) == (200, "")


def test_readers_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/specviz/trace/{new_key()}"
    monkeypatch.setattr(routes, "START_LIMIT_S", 0.0)
    monkeypatch.setattr(routes, "MAX_READERS", 1)
    one = client(tmp_path)
    assert [one.get(path).status_code for _ in range(2)] == [200, 200]  # each has ended
    monkeypatch.setattr(routes, "MAX_READERS", 0)
    assert one.get(path).status_code == 503


async def test_lines_come_whole_and_as_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "IDLE_LIMIT_S", 60.0)
    path = tmp_path / "trace.jsonl"
    lines = routes.follow(path, 0)
    first = asyncio.ensure_future(anext(lines))
    await asyncio.sleep(0.02)
    with path.open("a") as file:
        file.write("one\ntw")
        file.flush()
        assert await first == b"one\n"
        file.write("o\n")
        file.flush()
        assert await anext(lines) == b"two\n"
    await lines.aclose()


async def test_a_trace_outlives_its_reader_only_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "GRACE_S", 0.05)
    path = tmp_path / "trace.jsonl"
    path.write_text("one\n")
    lines = routes.follow(path, 0)
    assert await anext(lines) == b"one\n"
    await lines.aclose()
    assert path.exists()
    async with asyncio.timeout(60):
        while path.exists():
            await asyncio.sleep(0.02)

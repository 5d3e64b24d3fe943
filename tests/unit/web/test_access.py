"""Who may call the routes for programs: this machine, and who has the token."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from specviz.commands.single_run import run_once
from specviz.config import EngineKind, Prompt, RunConfig
from specviz.errors import StoreError, UsageError
from specviz.methods import Method
from specviz.remote import app as remote_app
from specviz.remote import ingest as ingest_client
from specviz.remote.token import TOKEN, authorization
from specviz.web import benchmarks, ingest, query
from specviz.web.access import for_programs

HERE, ELSEWHERE = "127.0.0.1", "10.0.0.5"
SECRET = "s3cret"


async def _yes(request: Request) -> JSONResponse:
    return JSONResponse({"said": "yes"})


APP = Starlette(
    routes=[
        Route("/api", for_programs(_yes), methods=["GET", "POST"]),
        Mount("/base", routes=[Route("/api", for_programs(_yes))]),
    ]
)


def call(
    peer: str = HERE, url: str = "http://127.0.0.1:8501", path: str = "/api", **headers: str | bytes
) -> httpx2.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    client = TestClient(APP, base_url=url, client=(peer, 50000))
    return client.post(path, headers=named) if path == "/api" else client.get(path, headers=named)


def refused(response: httpx2.Response, status: int) -> str:
    assert response.status_code == status
    (sentence,) = response.json().values()
    assert sentence.endswith(".") and "\n" not in sentence and SECRET not in response.text
    return str(sentence)


@pytest.fixture(params=[None, SECRET])
def token(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """What the operator set, if anything."""
    monkeypatch.delenv(TOKEN, raising=False)
    if request.param is not None:
        monkeypatch.setenv(TOKEN, request.param)
    return request.param


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.3.2.1", "::1"])
@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost:8501", "[::1]:8501", "0.0.0.0:80"])
def test_this_machine_needs_no_token(token: str | None, peer: str, host: str) -> None:
    assert call(peer, f"http://{host}").json() == {"said": "yes"}


def test_a_machine_that_calls_its_own_outer_address_is_this_machine(token: str | None) -> None:
    assert call(ELSEWHERE, f"http://{ELSEWHERE}:8501").status_code == 200


@pytest.mark.parametrize("host", ["evil.example:80", "localhost.evil.example", "127.0.0.1.nip.io"])
def test_a_name_that_was_made_to_mean_this_machine_is_refused(token: str | None, host: str) -> None:
    refused(call(url=f"http://{host}"), 403 if token is None else 401)


@pytest.mark.parametrize("host", ["", "[", "a]b:c", "//", "@"])
def test_a_host_that_is_none_is_refused(token: str | None, host: str) -> None:
    refused(call(host=host), 403 if token is None else 401)


@pytest.mark.parametrize("name", ["x_forwarded_for", "forwarded", "x_real_ip", "via"])
def test_behind_a_proxy_nobody_is_local(token: str | None, name: str) -> None:
    headers = {name: HERE}
    refused(call(**headers), 403 if token is None else 401)


@pytest.mark.parametrize("peer", [ELSEWHERE, "fe80::1", "::ffff:10.0.0.5", "testclient"])
def test_another_machine_needs_the_token(token: str | None, peer: str) -> None:
    url = "http://192.168.0.1:8501"
    sentence = refused(call(peer, url), 403 if token is None else 401)
    assert TOKEN in sentence
    allowed = call(peer, url, authorization=f"Bearer {SECRET}")
    if token is None:
        refused(allowed, 403)
    else:
        assert allowed.json() == {"said": "yes"}


@pytest.mark.parametrize("path", ["/api", "/base/api"])
@pytest.mark.parametrize(
    "given",
    [
        *("Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets", "Bearer S3CRET"),
        *("Basic s3cret", "s3cret", "Bearer s3cret s3cret", b"Bearer \xe9"),
    ],
)
def test_a_wrong_token_is_refused(
    monkeypatch: pytest.MonkeyPatch, given: str | bytes, path: str
) -> None:
    monkeypatch.setenv(TOKEN, SECRET)
    response = call(ELSEWHERE, "http://192.168.0.1", path, authorization=given)
    refused(response, 401)
    assert response.headers["www-authenticate"] == "Bearer"


def test_a_wrong_token_is_wrong_on_this_machine_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, SECRET)
    refused(call(authorization="Bearer other"), 401)
    monkeypatch.delenv(TOKEN)  # an app without one has nothing to compare with
    assert call(authorization="Bearer other").status_code == 200


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_token_lets_nobody_in(monkeypatch: pytest.MonkeyPatch, empty: str) -> None:
    monkeypatch.setenv(TOKEN, empty)
    refused(call(ELSEWHERE, "http://192.168.0.1", authorization="Bearer "), 403)


def test_web_pages_are_refused_with_the_token_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, SECRET)
    assert "programs" in refused(call(origin="http://127.0.0.1:8501"), 403)
    refused(call(origin="null", authorization=f"Bearer {SECRET}"), 403)


def test_every_route_for_programs_asks() -> None:
    routes = [*ingest.routes, *query.routes, *benchmarks.routes]
    client = TestClient(Starlette(routes=routes), client=(ELSEWHERE, 1))
    for route in routes:
        assert isinstance(route, Route) and route.methods is not None
        path = route.path.replace("{benchmark_id}", "b").replace("{action}", "cancel")
        for method in route.methods:
            assert client.request(method, path).status_code == 403, (method, path)


def test_clients_send_the_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TOKEN, raising=False)
    assert authorization() == {}
    monkeypatch.setenv(TOKEN, f" {SECRET}\n")
    assert authorization() == {"Authorization": f"Bearer {SECRET}"}
    assert authorization("other") == {"Authorization": "Bearer other"}


@pytest.mark.parametrize("odd", ["a b", "é", "a\nb", "한국"])
def test_a_token_that_cannot_be_sent_is_said_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    monkeypatch.setenv(TOKEN, odd)
    with pytest.raises(UsageError) as caught:
        authorization()
    assert odd not in str(caught.value)


def test_a_refused_run_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def client(url: str, token: str | None) -> TestClient:
        headers = authorization(token)
        sent.extend(headers.values())
        app = Starlette(routes=ingest.routes)
        return TestClient(app, "http://192.168.0.1", client=(ELSEWHERE, 1), headers=headers)

    monkeypatch.setattr(remote_app, "client", client)
    monkeypatch.setenv(TOKEN, SECRET)
    monkeypatch.setattr(ingest_client, "recording_to_dict", lambda run, requests: {})
    run = type("Recorded", (), {"run_id": "r"})()
    with pytest.raises(StoreError, match=r"Run r was not stored: .*differs from the app's"):
        ingest_client.post_run("http://app", run, [], token="other")
    assert sent == ["Bearer other"]


def test_a_run_is_stored_in_one_place(tmp_path: Path) -> None:
    config = RunConfig(EngineKind.EMBEDDED, Method.NGRAM, k=3)
    with pytest.raises(UsageError, match="leave out --to or --db"):
        run_once(config, Prompt("p"), tmp_path / "runs.duckdb", to="http://app", as_json=True)
    assert not any(tmp_path.iterdir())

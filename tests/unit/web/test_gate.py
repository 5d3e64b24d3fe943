"""Who may call which route: names, web pages, secret, token, own processes, sizes of bodies.

`tests/faults/test_routes.py` tries the whole app; here are the odd cases.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from specviz.commands.single_run import run_once
from specviz.config import EngineKind, Prompt, RunConfig
from specviz.errors import StoreError, UsageError
from specviz.methods import Method
from specviz.remote import app as remote_app
from specviz.remote import ingest as ingest_client
from specviz.remote.token import CALLER_HEADER, SECRET_HEADER, TOKEN, authorization, secret_for
from specviz.store.secret import published_secret
from specviz.views.shared.address import known_hosts
from specviz.web import caller, guard, rules
from specviz.web.guard import HOSTS, Guard

HERE, ELSEWHERE = "127.0.0.1", "10.0.0.5"
OWN_NAME = "db.local"
SECRET, PASSWORD = "5ec4e7", "t0ken"
BY_SECRET = {SECRET_HEADER: SECRET}
BY_TOKEN = {"Authorization": f"Bearer {PASSWORD}"}


async def _yes(request: Request) -> JSONResponse:
    body = await request.body()
    return JSONResponse({"caller": request.headers.getlist(CALLER_HEADER), "size": len(body)})


async def _socket(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text("yes")
    await websocket.close()


ROUTES = [
    Route("/api/query", _yes, methods=["POST"]),
    Route("/api/benchmarks", _yes, methods=["POST"]),
    WebSocketRoute("/ws/jobs/{job_id}", _socket),
    Route("/{path:path}", _yes, methods=["GET", "POST"]),
]
APP = Guard(Starlette(routes=ROUTES), frozenset({OWN_NAME}))
BASED = Guard(Starlette(routes=[Mount("/base", routes=ROUTES)]), frozenset(), "/base/")


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An app with a secret; no process of a test client is one that the kernel knows."""
    monkeypatch.setattr(guard, "current", lambda: SimpleNamespace(secret=SECRET))
    monkeypatch.setattr(caller, "is_own_process", lambda client, server: client[0] == HERE)
    monkeypatch.delenv(TOKEN, raising=False)
    yield


@pytest.fixture(params=[None, PASSWORD])
def token(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """What the operator set, if anything."""
    if request.param is not None:
        monkeypatch.setenv(TOKEN, request.param)
    return request.param


def call(
    path: str = "/api/query",
    *,
    peer: str = HERE,
    url: str = "http://127.0.0.1:8501",
    app: Guard = APP,
    headers: object = (),
    body: object = b"",
) -> httpx2.Response:
    client = TestClient(app, base_url=url, client=(peer, 50000))
    method = "POST" if "/api/" in path else "GET"
    return client.request(method, path, headers=headers, content=body)  # type: ignore[arg-type]


def refused(response: httpx2.Response, status: int) -> str:
    assert response.status_code == status
    sentence = response.json()["error"] if "json" in response.headers["content-type"] else None
    sentence = sentence or response.text
    assert sentence.endswith(".") and "\n" not in sentence
    assert SECRET not in response.text and PASSWORD not in response.text
    return str(sentence)


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.3.2.1", "::1", ELSEWHERE])
@pytest.mark.parametrize("host", ["127.0.0.1:8501", "localhost:8501", "[::1]:8501", "0.0.0.0:80"])
def test_who_has_the_secret_needs_no_token(token: str | None, peer: str, host: str) -> None:
    answer = call(peer=peer, url=f"http://{host}", headers=BY_SECRET)
    assert answer.json() == {"caller": ["own"], "size": 0}


def test_this_machine_alone_is_not_enough_for_a_program(token: str | None) -> None:
    sentence = refused(call(), 403 if token is None else 401)
    assert "secret" in sentence and TOKEN in sentence


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example:80", "localhost.evil.example", "127.0.0.1.nip.io", "localhost."),
        *("", "[", "a]b:c", "//", "@", "evil.test@127.0.0.1", "127.0.0.1/evil.test", "6.6.6.6"),
        *("2130706433", "0x7f.1", "db.local.evil.example"),
        *("127.0.0.1:8951.evil.com", "127.0.0.1#evil.com", "127.0.0.1?evil", "localhost:-1"),
        *("[::ffff:127.0.0.1].evil.com", "localhost:abc", "localhost:65536", "localhost:1:2"),
        *(
            "[::1",
            "::1",
            "[localhost]",
            "[127.0.0.1]",
            "[::1%25lo]",
            "localhost\\evil",
            "localhost,x",
        ),
    ],
)
@pytest.mark.parametrize("path", ["/api/query", "/", "/_stcore/health"])
def test_any_other_name_is_refused(monkeypatch, host: str, path: str) -> None:
    monkeypatch.setenv(TOKEN, PASSWORD)
    answer = call(path, headers={"Host": host, **BY_SECRET, **BY_TOKEN})
    assert HOSTS in refused(answer, 403)


@pytest.mark.parametrize("host", [OWN_NAME, "DB.Local:8501", "127.0.0.1", "localhost:1"])
def test_the_apps_own_names_are_known(host: str) -> None:
    assert call("/", headers={"Host": host}).status_code == 200


def test_an_address_that_the_connection_reached_is_known() -> None:
    for server in ("192.168.0.1", "[fe80::1]"):
        assert call("/", url=f"http://{server}:8501").status_code == 200
    assert call("/", url="http://evil.test").status_code == 403  # here the "address" is a name


def test_names_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOSTS, " DB.local,,specviz.example.com ")
    assert {"db.local", "specviz.example.com"} <= known_hosts(HOSTS)
    assert "" not in known_hosts(HOSTS)


@pytest.mark.parametrize(
    "name", ["x-forwarded-for", "forwarded", "x-real-ip", "via", "x-forwarded-host"]
)
@pytest.mark.parametrize("path", ["/api/query", "/"])
def test_behind_a_proxy_nobody_is_local(token: str | None, name: str, path: str) -> None:
    refused(call(path, headers={name: HERE}), 403 if token is None else 401)


@pytest.mark.parametrize("peer", [ELSEWHERE, "fe80::1", "::ffff:10.0.0.5", "testclient"])
@pytest.mark.parametrize("path", ["/api/query", "/", "/media/file"])
def test_another_machine_needs_the_token(token: str | None, peer: str, path: str) -> None:
    status = 403 if token is None else 401
    assert TOKEN in refused(call(path, peer=peer), status)
    allowed = call(path, peer=peer, headers=BY_TOKEN)
    if token is None:
        refused(allowed, status)
    else:
        assert allowed.json()["caller"] == ["token"]


@pytest.mark.parametrize(
    "given",
    [
        *("Bearer", "Bearer ", "Bearer t0ke", "Bearer t0kens", "Bearer T0KEN"),
        *("Basic t0ken", "t0ken", "Bearer t0ken t0ken", b"Bearer \xe9"),
        "Basic " + base64.b64encode(b"me:t0ken").decode(),  # for browsers, and programs are none
    ],
)
@pytest.mark.parametrize(("path", "app"), [("/api/query", APP), ("/base/api/query", BASED)])
def test_a_wrong_token_is_refused(
    monkeypatch: pytest.MonkeyPatch, given: str | bytes, path: str, app: Guard
) -> None:
    monkeypatch.setenv(TOKEN, PASSWORD)
    response = call(path, peer=ELSEWHERE, app=app, headers={"Authorization": given})
    refused(response, 401)
    assert response.headers["www-authenticate"] == "Bearer"


def test_a_wrong_token_is_wrong_on_this_machine_too(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"Authorization": "Bearer other"}
    assert call("/", headers=wrong).status_code == 200  # an app without one has none to compare
    monkeypatch.setenv(TOKEN, PASSWORD)
    assert "differs" in refused(call("/", headers=wrong), 401)
    assert call(headers={**wrong, **BY_SECRET}).status_code == 200


def test_a_wrong_secret_is_said_unless_the_token_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {SECRET_HEADER: "other"}
    assert "try again" in refused(call(headers=wrong), 401)
    monkeypatch.setenv(TOKEN, PASSWORD)
    assert call(headers={**wrong, **BY_TOKEN}).json()["caller"] == ["token"]


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_token_lets_nobody_in(monkeypatch: pytest.MonkeyPatch, empty: str) -> None:
    monkeypatch.setenv(TOKEN, empty)
    refused(call(peer=ELSEWHERE, headers={"Authorization": "Bearer "}), 403)
    password = base64.b64encode(b":").decode()
    refused(call("/", peer=ELSEWHERE, headers={"Authorization": f"Basic {password}"}), 403)


@pytest.mark.parametrize(
    ("given", "status"),
    [(b"me:t0ken", 200), (b":t0ken", 200), (b"t0ken", 401), (b"me:other", 401), (b"\xff:", 401)],
)
def test_a_browser_gives_the_token_as_a_password(monkeypatch, given: bytes, status: int) -> None:
    monkeypatch.setenv(TOKEN, PASSWORD)
    asked = call("/", peer=ELSEWHERE)
    assert asked.headers["www-authenticate"].startswith("Basic")
    password = {"Authorization": f"Basic {base64.b64encode(given).decode()}"}
    assert call("/", peer=ELSEWHERE, headers=password).status_code == status
    assert call("/", peer=ELSEWHERE, headers={"Authorization": "Basic ?"}).status_code == 401


def test_web_pages_are_refused_with_token_and_secret_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, PASSWORD)
    own = {"Origin": "http://127.0.0.1:8501"}
    for headers in (own, {"Origin": "null"}, {"Sec-Fetch-Site": "none"}, {"Origin": "["}):
        answer = call(headers={**headers, **BY_TOKEN, **BY_SECRET})
        assert "programs" in refused(answer, 403)


@pytest.mark.parametrize("origin", ["null", "http://127.0.0.1", "http://[", "", "evil.test"])
def test_an_origin_that_is_not_the_apps_own_is_refused(origin: str) -> None:
    refused(call("/", headers={"Origin": origin, **BY_SECRET}), 403)


def test_what_starts_processes_takes_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, PASSWORD)
    assert "starts processes" in refused(call("/api/benchmarks", headers=BY_TOKEN), 403)
    assert call("/api/benchmarks", headers=BY_SECRET).status_code == 200


def test_nobody_says_who_he_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, PASSWORD)
    claims = [(CALLER_HEADER, "own"), *BY_TOKEN.items()]
    assert call("/", peer=ELSEWHERE, headers=claims).json()["caller"] == ["token"]


@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization", SECRET_HEADER])
def test_a_header_that_comes_twice_is_refused(name: str) -> None:
    twice = [("Host", "127.0.0.1:8501"), (name, "a"), (name, "b")]
    refused(call("/", headers=twice[1:] if name == "Host" else twice), 400)


@pytest.mark.parametrize(
    ("path", "method"),
    [("/", "POST"), ("/api/query", "GET"), ("/api/query", "OPTIONS"), ("/_stcore/metrics", "GET")],
)
def test_what_has_no_row_is_refused(path: str, method: str) -> None:
    client = TestClient(APP, "http://127.0.0.1", client=(HERE, 1), headers=BY_SECRET)
    assert client.request(method, path).status_code == 404


def test_outside_the_base_path_is_nothing() -> None:
    assert call("/base/", app=BASED).status_code == 200
    for path in ("/", "/api/query", "/based/"):
        assert call(path, app=BASED, headers=BY_SECRET).status_code == 404


@pytest.mark.parametrize(
    ("headers", "let_in"),
    [
        ({"Origin": "http://127.0.0.1:8501"}, True),
        ({}, False),
        (BY_SECRET, True),
        ({"Origin": "http://evil.test", **BY_SECRET}, False),
        ({"Origin": "http://127.0.0.1:8501", "X-Forwarded-For": HERE}, False),
        ({"Origin": "http://127.0.0.1:8501", "Sec-Fetch-Site": "cross-site"}, False),
    ],
)
def test_a_websocket_is_for_the_apps_pages(headers: dict[str, str], let_in: bool) -> None:
    client = TestClient(APP, "http://127.0.0.1:8501", client=(HERE, 1))
    host = {"Host": "127.0.0.1:8501"}
    if let_in:
        with client.websocket_connect("/ws/jobs/j", headers={**host, **headers}) as socket:
            assert socket.receive_text() == "yes"
    else:
        with (
            pytest.raises(WebSocketDisconnect),
            client.websocket_connect("/ws/jobs/j", headers={**host, **headers}),
        ):
            pass


@pytest.mark.parametrize(("size", "status"), [(100, 200), (101, 413)])
@pytest.mark.parametrize("kind", [bytes, lambda body: iter([body[:60], body[60:]])])
def test_a_body_has_a_limit_however_it_comes(
    monkeypatch: pytest.MonkeyPatch, size: int, status: int, kind: Callable[[bytes], object]
) -> None:
    small = rules.Rule("/api/query", ("POST",), rules.Who.PROGRAMS, 100)
    monkeypatch.setattr(guard, "rule_of", lambda path, method: small)
    answer = call(headers=BY_SECRET, body=kind(b"x" * size))
    assert answer.status_code == status
    if status == 413:
        assert "at most" in answer.json()["error"]


def test_clients_send_the_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert authorization() == {}
    monkeypatch.setenv(TOKEN, f" {PASSWORD}\n")
    assert authorization() == {"Authorization": f"Bearer {PASSWORD}"}
    assert authorization("other") == {"Authorization": "Bearer other"}


@pytest.mark.parametrize("odd", ["a b", "é", "a\nb", "한국"])
def test_a_token_that_cannot_be_sent_is_said_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    monkeypatch.setenv(TOKEN, odd)
    with pytest.raises(UsageError) as caught:
        authorization()
    assert odd not in str(caught.value)


def test_the_secret_goes_to_this_machine_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = tmp_path / "runs.duckdb"
    monkeypatch.setenv("SPECVIZ_STORE", str(store))
    assert secret_for("http://127.0.0.1:8501") is None
    with published_secret(store) as secret:
        for url in ("http://127.0.0.1:8501", "http://localhost:1/", "http://[::1]:8501"):
            assert secret_for(url) == secret
        for url in ("http://10.0.0.5:8501", "http://localhost.evil.test", "http://db.local", "x"):
            assert secret_for(url) is None


def test_a_refused_run_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def client(url: str, token: str | None) -> TestClient:
        headers = authorization(token)
        sent.extend(headers.values())
        return TestClient(APP, "http://127.0.0.1", client=(ELSEWHERE, 1), headers=headers)

    monkeypatch.setattr(remote_app, "client", client)
    monkeypatch.setenv(TOKEN, PASSWORD)
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

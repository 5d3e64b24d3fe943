"""The app under a base path, directly and behind a reverse proxy."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from specviz.paths import PROJECT_ROOT
from specviz.remote.token import TOKEN
from tests.support.children import environment, wait_for_port
from tests.support.faults import raw_http

NAME, WORD = "specviz.example.com", "a-token"
PROXIED = {
    "Host": NAME,
    "X-Forwarded-For": "203.0.113.7",
    "X-Forwarded-Proto": "https",
    "Authorization": f"Bearer {WORD}",
}
SOCKET = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


@dataclass(frozen=True)
class App:
    port: int
    base: str
    store: Path


@pytest.fixture(scope="module", params=["specviz", "/tools/specviz/"])
def app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("based")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    store = folder / "runs.duckdb"
    variables = {
        "SPECVIZ_STORE": str(store),
        "SPECVIZ_HOSTS": NAME,
        TOKEN: WORD,
    }
    options = [
        f"--server.port={port}",
        f"--server.baseUrlPath={request.param}",
        "--server.address=127.0.0.1",
        "--server.headless=true",
    ]
    with (folder / "app.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", *options],
            cwd=PROJECT_ROOT, env=environment(**variables), stdout=log, stderr=log,
        )  # fmt: skip
        try:
            wait_for_port(port, process)
            yield App(port, f"/{request.param.strip('/')}", store)
        finally:
            process.terminate()
            process.wait(60)


def get(app: App, path: str, headers: dict[str, str]) -> httpx2.Response:
    return httpx2.get(
        f"http://127.0.0.1:{app.port}{path}", headers=headers, timeout=60, follow_redirects=True
    )


@pytest.mark.parametrize("headers", [{}, PROXIED], ids=["direct", "proxied"])
def test_pages_and_their_scripts_are_there(app: App, headers: dict[str, str]) -> None:
    for path in ("/", "/runs", "/benchmark"):
        answer = get(app, f"{app.base}{path}", headers)
        assert (answer.status_code, "<title>" in answer.text) == (200, True), (path, answer.history)
    scripts = re.findall(r'src="\./([^"]+\.js)"', answer.text)
    assert scripts
    for script in scripts:
        assert get(app, f"{app.base}/{script}", headers).status_code == 200
    assert get(app, f"{app.base}/_stcore/health", headers).text == "ok"


@pytest.mark.parametrize("headers", [{}, PROXIED], ids=["direct", "proxied"])
@pytest.mark.parametrize("path", ["/_stcore/stream", "/ws/jobs/none"])
def test_websockets_are_there(app: App, headers: dict[str, str], path: str) -> None:
    host = headers.get("Host", f"127.0.0.1:{app.port}")
    sent = {"Host": host, "Origin": f"http://{host}", **headers, **SOCKET}
    lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    ((status, _, _),) = raw_http.answers(
        app.port, [f"GET {app.base}{path} HTTP/1.1\r\n{lines}\r\n"]
    )
    assert status == 101


@pytest.mark.parametrize("path", ["/", "/runs", "/_stcore/health", "/api/query", "/specvizz/"])
def test_nothing_is_outside_the_base_path(app: App, path: str) -> None:
    assert get(app, path, {}).status_code in (403, 404)


def test_a_command_is_answered_by_the_app(app: App) -> None:
    command = [sys.executable, "-m", "specviz", "query", "SELECT 41 + 1 AS answer"]
    done = subprocess.run(
        [*command, "--db", str(app.store)],
        cwd=PROJECT_ROOT, env=environment(), capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert "42" in done.stdout, done.stderr
    assert f"http://127.0.0.1:{app.port}{app.base}" in done.stderr

"""The API key goes to servers that were named for it, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from specviz.errors import NotAnOpenAIServer
from specviz.servers.client.api_key import BASE_URL, KEY, KEY_HOSTS, NO_KEY, api_key
from specviz.servers.client.engine import open_server
from specviz.servers.timing.timed_server import open_timed_server

THE_KEY = "sk-secret"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, THE_KEY)
    monkeypatch.delenv(KEY_HOSTS, raising=False)
    monkeypatch.delenv(BASE_URL, raising=False)


@pytest.mark.parametrize(
    ("names", "url", "sent"),
    [
        ("", "https://api.example.com", False),
        ("", "http://127.0.0.1:8000", False),
        ("api.example.com", "https://api.example.com", True),
        ("api.example.com", "https://api.example.com:8443", True),
        ("api.example.com", "http://api.example.com", False),
        ("http://api.example.com", "http://api.example.com", True),
        ("http://api.example.com", "https://api.example.com", False),
        ("https://api.example.com/v1", "https://api.example.com", True),
        ("api.example.com", "https://api.example.com.evil.test", False),
        ("api.example.com", "https://evil.test/api.example.com", False),
        ("api.example.com", "https://api.example.com@evil.test", False),
        ("API.example.com", "https://api.EXAMPLE.com", True),
        ("127.0.0.1", "http://127.0.0.1:8000", True),
        ("localhost:8000", "http://localhost:8000", True),
        ("localhost:8000", "http://localhost:8001", False),
        ("https://api.example.com:443", "https://api.example.com", True),
        ("10.0.0.5", "http://10.0.0.5:8000", False),
        ("10.0.0.5:http", "https://10.0.0.5", False),
        ("a.test, http://10.0.0.5:8000 ,b.test", "http://10.0.0.5:8000", True),
        (",,", "http://", False),
    ],
)
def test_a_server_gets_the_key_if_it_was_named(
    monkeypatch: pytest.MonkeyPatch, names: str, url: str, sent: bool
) -> None:
    monkeypatch.setenv(KEY_HOSTS, names)
    assert api_key(url) == (THE_KEY if sent else NO_KEY)


def test_the_openai_clients_own_variable_names_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BASE_URL, "https://api.example.com/v1")
    assert api_key("https://api.example.com") == THE_KEY
    assert api_key("http://api.example.com") == NO_KEY


class Listener(BaseHTTPRequestHandler):
    """Writes down what it is sent, and wants a key."""

    def do_GET(self) -> None:
        self.server.heard.append(self.headers["Authorization"])  # type: ignore[attr-defined]
        self.send_response(401)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return None


@pytest.fixture
def listener() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Listener)
    server.heard = []  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("connect", [open_server, open_timed_server])
def test_what_a_listener_hears(monkeypatch: pytest.MonkeyPatch, listener, connect) -> None:
    url = f"http://127.0.0.1:{listener.server_port}"
    with pytest.raises(NotAnOpenAIServer, match=f"add {url} to {KEY_HOSTS}"):
        asyncio.run(connect(url))
    assert listener.heard == [f"Bearer {NO_KEY}"]
    monkeypatch.setenv(KEY_HOSTS, url)
    with pytest.raises(NotAnOpenAIServer, match=f"set {KEY} and try again"):
        asyncio.run(connect(f"{url}/v1"))
    assert listener.heard[1:] == [f"Bearer {THE_KEY}"]

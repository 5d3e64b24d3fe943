"""Where a server runs, and as which process."""

from __future__ import annotations

import os
import socket
from types import SimpleNamespace

import psutil
import pytest

from specviz.bench import server_process
from specviz.bench.server_process import watched_of


def test_a_server_of_our_own_needs_no_search() -> None:
    assert watched_of(None) == ("this machine", None)


def test_a_server_on_this_machine_is_found_by_its_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert watched_of(f"http://127.0.0.1:{port}") == ("this machine", os.getpid())
        assert watched_of(f"http://localhost:{port}/v1") == ("this machine", os.getpid())
    assert watched_of(f"http://127.0.0.1:{port}") == ("nothing", None)


def test_of_a_server_elsewhere_only_the_client_is_watched() -> None:
    assert watched_of("http://192.0.2.1:8000") == ("the client only", None)


@pytest.mark.parametrize("pid", [None, 1])
def test_a_process_that_is_hidden_or_only_forwards_is_not_taken_for_the_server(
    monkeypatch: pytest.MonkeyPatch, pid: int | None
) -> None:
    listening = SimpleNamespace(
        pid=pid, status=psutil.CONN_LISTEN, laddr=SimpleNamespace(port=8000)
    )
    monkeypatch.setattr(psutil, "net_connections", lambda kind: [listening])
    monkeypatch.setattr(psutil, "Process", lambda pid: SimpleNamespace(name=lambda: "docker-proxy"))
    assert watched_of("http://127.0.0.1:8000") == ("nothing", None)


def test_where_connections_may_not_be_read_nothing_is_watched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(kind: str) -> None:
        raise psutil.AccessDenied()

    monkeypatch.setattr(server_process.psutil, "net_connections", refuse)
    assert watched_of("http://127.0.0.1:8000") == ("nothing", None)

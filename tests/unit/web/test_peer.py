"""Whose process a connection comes from, with real sockets and, as root, real other users."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from specviz.web import peer
from specviz.web.peer import is_own_process, uid_of

NOBODY = 65534
LINUX = Path("/proc/net/tcp").exists()
pytestmark = pytest.mark.skipif(not LINUX, reason="the kernel's list of sockets is Linux's")

CONNECT = (
    "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); input()"
)


@contextmanager
def listening(family: int = socket.AF_INET, host: str = "127.0.0.1") -> Iterator[socket.socket]:
    with socket.socket(family) as server:
        if family == socket.AF_INET6:
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.bind((host, 0))
        server.listen()
        yield server


def ends(accepted: socket.socket) -> tuple[tuple[str, int], tuple[str, int]]:
    return accepted.getpeername()[:2], accepted.getsockname()[:2]


@pytest.mark.parametrize(
    ("family", "host", "called"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET6, "::1", "::1"),
        (socket.AF_INET6, "::", "127.0.0.1"),
        (socket.AF_INET6, "::", "::ffff:127.0.0.1"),
    ],
)
def test_our_own_connection_is_ours(family: int, host: str, called: str) -> None:
    try:
        stack = ExitStack()
        server = stack.enter_context(listening(family, host))
    except OSError:
        pytest.skip("no IPv6 here")
    with stack:
        client = stack.enter_context(socket.create_connection((called, server.getsockname()[1])))
        accepted = stack.enter_context(server.accept()[0])
        assert uid_of(*ends(accepted)) == os.getuid()
        assert is_own_process(*ends(accepted))
        client.close()  # from now on it belongs to nobody, though what it sent can still be read
        assert uid_of(*ends_of_closed(accepted, called, server)) is None


def ends_of_closed(
    accepted: socket.socket, called: str, server: socket.socket
) -> tuple[tuple[str, int], tuple[str, int]]:
    return accepted.getpeername()[:2], (called, server.getsockname()[1])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_another_users_connection_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening() as server:
        other = subprocess.Popen(
            ["python3", "-I", "-c", CONNECT, str(server.getsockname()[1])],
            user=NOBODY, group=NOBODY, extra_groups=[], stdin=subprocess.PIPE, cwd="/",
            env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
        )  # fmt: skip
        with server.accept()[0] as accepted:
            client, here = ends(accepted)
            assert uid_of(client, here) == NOBODY
            assert not is_own_process(client, here)
            monkeypatch.setattr(os, "geteuid", lambda: NOBODY)
            assert is_own_process(client, here)
        other.communicate(b"\n")


def test_who_is_not_listed_is_not_ours() -> None:
    assert not is_own_process(("127.0.0.1", 1), ("127.0.0.1", 2))
    assert not is_own_process(("10.0.0.5", 1), ("127.0.0.1", 2))
    assert not is_own_process(("a-name", 1), ("127.0.0.1", 2))
    assert not is_own_process(None, ("127.0.0.1", 2)) and not is_own_process(("::1", 1), None)


def test_where_there_is_no_list_this_machine_is_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(peer, "TABLES", (tmp_path / "none", tmp_path / "none6"))
    assert is_own_process(("127.0.0.1", 1), ("127.0.0.1", 2))
    assert is_own_process(("10.0.0.5", 1), ("10.0.0.5", 2))  # its own outer address
    assert not is_own_process(("10.0.0.5", 1), ("10.0.0.6", 2))

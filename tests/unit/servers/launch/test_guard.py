"""The guard ends what it runs when the pipe closes, whatever closed it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from specviz.servers.launch import guard

FAMILY = "import subprocess, time; subprocess.Popen(['sleep', '900']); time.sleep(900)"
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(900)"


def guarded(code: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-I", guard.__file__, sys.executable, "-c", code], stdin=subprocess.PIPE
    )
    deadline = time.monotonic() + 60
    wanted = 2 if code == FAMILY else 1
    while len(family(process)) < wanted and time.monotonic() < deadline:
        time.sleep(0.05)
    return process


def family(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    children: list[psutil.Process] = psutil.Process(process.pid).children(recursive=True)
    return children


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    process = guarded(FAMILY)
    yield process
    if process.stdin:
        process.stdin.close()
    process.wait(60)


def all_gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=60.0)
    return not [one for one in alive if one.status() != psutil.STATUS_ZOMBIE]


def test_a_closed_pipe_ends_the_whole_family(server: subprocess.Popen[bytes]) -> None:
    processes = family(server)
    assert len(processes) == 2 and server.stdin
    server.stdin.close()
    assert all_gone(processes)
    assert server.wait(60) is not None


def test_a_signal_to_the_guard_ends_the_whole_family(server: subprocess.Popen[bytes]) -> None:
    processes = family(server)
    server.send_signal(signal.SIGTERM)
    assert all_gone(processes)


@pytest.mark.skipif(sys.platform != "linux", reason="parent-death signals are Linux's")
def test_killing_the_guard_ends_the_server(server: subprocess.Popen[bytes]) -> None:
    direct = psutil.Process(server.pid).children()
    others = [one for one in family(server) if one not in direct]
    server.kill()
    assert all_gone(direct)
    for other in others:  # the real server ends its own children on SIGTERM; sleep does not
        other.kill()


def test_a_child_of_the_server_that_outlives_it_is_ended(server: subprocess.Popen[bytes]) -> None:
    processes = family(server)
    os.kill(psutil.Process(server.pid).children()[0].pid, signal.SIGKILL)
    assert all_gone(processes)
    assert server.wait(60) == -signal.SIGKILL % 256


def test_a_server_that_ignores_sigterm_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "TERM_WAIT_S", 0.3)
    child = subprocess.Popen([sys.executable, "-c", STUBBORN], start_new_session=True)
    time.sleep(0.3)
    guard.end_group(child)
    assert child.returncode in (-signal.SIGKILL, -signal.SIGTERM)

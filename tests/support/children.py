"""Python processes that tests start."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
import time
from contextlib import suppress

import psutil

from specviz.paths import PROJECT_ROOT

GONE_WITHIN_S = 120.0


def environment(**variables: str) -> dict[str, str]:
    """This process's environment and `variables`; `specviz` and `tests` are found in any folder."""
    return {**os.environ, "PYTHONPATH": str(PROJECT_ROOT), **variables}


def run_python(code: str, *args: object) -> subprocess.CompletedProcess[str]:
    """Run a program in another process."""
    return subprocess.run(
        [sys.executable, "-c", program(code), *map(str, args)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )


def program(code: str) -> str:
    """The code for `python -c`, with `sys` imported."""
    return f"import sys\n{textwrap.dedent(code)}"


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    """Until the process answers at a port of this machine. Raises RuntimeError once it has ended;
    one that does neither is the test's own limit to end."""
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"the app ended with exit code {process.returncode}")


def whose_environment_has(mark: str) -> list[int]:
    """Processes that descend from one that was started with `mark`, whoever their parent is now."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if mark in process.environ() and is_running(process.pid):
                found.append(process.pid)
    return found


def wait_until_gone(pids: list[int]) -> list[int]:
    """Those of `pids` that still run after `GONE_WITHIN_S`."""
    deadline = time.monotonic() + GONE_WITHIN_S
    while (left := [pid for pid in pids if is_running(pid)]) and time.monotonic() < deadline:
        time.sleep(0.2)
    return left


def is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False

"""The app as users start it, for benchmarks and tests that open it in Chromium."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from specviz.paths import PROJECT_ROOT
from specviz.servers.launch.server import free_port

START_S = 60.0


@contextmanager
def started_app(store: Path, log: Path) -> Iterator[str]:
    """Start it on the database `store`, yield its URL once it answers, stop it at the end."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=PROJECT_ROOT, env={**os.environ, "SPECVIZ_STORE": str(store)},
            stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            url = f"http://127.0.0.1:{port}"
            wait_until_healthy(url, lambda: process.poll() is None)
            yield url
        finally:
            process.terminate()
            process.wait(30)


def wait_until_healthy(url: str, is_running: Callable[[], bool], seconds: float = START_S) -> None:
    """Until the app at `url` answers. Raises RuntimeError if it has ended, or does not in time."""
    deadline = monotonic() + seconds
    while monotonic() < deadline and is_running():
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).close()
            return
        except OSError:
            sleep(0.1)
    raise RuntimeError(f"the app at {url} did not start")

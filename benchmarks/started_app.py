"""The app as users start it, for benchmarks that open it in Chromium."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from specviz.paths import PROJECT_ROOT
from specviz.servers.launch.server import free_port


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
            _wait_for(url)
            yield url
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(url: str) -> None:
    deadline = monotonic() + 60
    while monotonic() < deadline:
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).close()
            return
        except OSError:
            sleep(0.2)
    raise RuntimeError("the app did not start")

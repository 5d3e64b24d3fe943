"""An app as its users start it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def running_app(script: Path, log: Path, **environment: str) -> Iterator[str]:
    """Start a Streamlit app on a free port of the loopback interface; yields its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}"]
    path = os.pathsep.join([str(ROOT), str(script.parent)])
    with log.open("w") as output:
        server = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path, **environment},
            stdout=output,
            stderr=output,
        )
        url = f"http://127.0.0.1:{port}"
        try:
            _wait_until_healthy(url, server)
            yield url
        finally:
            server.terminate()
            server.wait(30)


def _wait_until_healthy(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).close()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the app at {url} did not start")

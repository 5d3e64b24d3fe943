"""Apps for tests, forked from a process that has imported everything."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.started.app import START_S, wait_until_healthy
from specviz.paths import PROJECT_ROOT as ROOT
from specviz.servers.launch.server import free_port
from tests.support.apps.log import watched
from tests.support.children import environment

APPS = Path(__file__).parent
END_S = 30.0


@contextmanager
def running_app(script: Path, log: Path, **variables: str) -> Iterator[str]:
    """A Streamlit app on a free port of the loopback interface; yields its URL.

    A fork, since importing Streamlit and torch is most of an app's start.
    """
    app = starter().start(script, log, variables)
    try:
        app.wait_until_healthy()
        with watched(log):
            yield app.url
    finally:
        if app.wait(0) is None:
            os.kill(app.pid, signal.SIGTERM)
        assert app.wait(END_S) is not None, "SIGTERM did not end the app"


@dataclass(frozen=True, slots=True)
class App:
    pid: int
    url: str
    starter: Starter

    def wait(self, seconds: float) -> int | None:
        """Its exit code; None if it has not ended by then."""
        return self.starter.ask(wait=self.pid, seconds=seconds)

    def wait_until_healthy(self, seconds: float = START_S) -> None:
        wait_until_healthy(self.url, lambda: self.wait(0) is None, seconds)


@dataclass(frozen=True, slots=True)
class Starter:
    """The process that apps are forked from: `starter.py`."""

    process: subprocess.Popen[str]

    def start(self, script: Path, log: Path, variables: dict[str, str]) -> App:
        port = free_port()
        asked = {"script": str(script), "port": port, "log": str(log)}
        pid = self.ask(start={**asked, "environment": {**os.environ, **variables}})
        assert pid is not None
        return App(pid, f"http://127.0.0.1:{port}", self)

    def ask(self, **asked: object) -> int | None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        answer: int | None = json.loads(self.process.stdout.readline())
        return answer


@cache
def starter() -> Starter:
    """One for all tests of this process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.apps.starter"],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return Starter(process)

"""A server in the foreground, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from specviz.errors import ServerStartFailed
from specviz.paths import LOGS
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server, start_server

CHECK_EVERY_S = 0.5


def serve(spec: ServerSpec, *, out: Callable[[str], None] = print, log_dir: Path = LOGS) -> int:
    """Start the server, print its URL when it answers, stop it on a signal.

    `out` gets the URL line; progress and errors go to standard error. Returns the exit code: 0
    after a clean stop, 1 if the server could not start or ended by itself.
    """
    with _stop_signals() as stop:
        try:
            server = start_server(spec, log_dir=log_dir, on_progress=_report, cancel=stop)
        except ServerStartFailed as error:
            if stop.is_set():
                return 0
            _report(str(error))
            return 1
        try:
            out(f"{server.url}  {spec.method.value} on {spec.model}, log {server.log_path}")
            return _watch(server, stop)
        finally:
            server.stop()


def _watch(server: Server, stop: threading.Event) -> int:
    while not stop.wait(CHECK_EVERY_S):
        if not server.is_alive():
            _report(f"The server ended: {server.failure_reason()}")
            return 1
    return 0


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set; the old handlers come back afterwards."""
    stop = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: stop.set()) for number in numbers]
    try:
        yield stop
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

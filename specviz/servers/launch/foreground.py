"""A server in the foreground, until somebody stops it."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import NoReturn

from specviz.errors import EngineError
from specviz.paths import LOGS
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import start_server

CHECK_EVERY_S = 0.5


def serve(spec: ServerSpec, *, log_dir: Path = LOGS) -> NoReturn:
    """Start the server, print its URL when it answers, and stop it on KeyboardInterrupt.

    Progress goes to standard error. Raises ServerStartFailed if the server does not start,
    EngineError once it has ended by itself.
    """
    server = start_server(spec, log_dir=log_dir, on_progress=_report)
    try:
        url_line = f"{server.url}  {spec.method.value} on {spec.model}, log {server.log_path}"
        print(url_line, flush=True)
        while server.is_alive():
            time.sleep(CHECK_EVERY_S)
        raise EngineError(f"The server ended: {server.failure_reason()}")
    finally:
        server.stop()


def _report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

"""Starts apps: what they import is imported once, and each start is a fork.

Lines in, one answer line each: `{"start": …}` → a process id; `{"wait": pid, "seconds": s}` → the
exit code, null if it runs on.
"""

from __future__ import annotations

import json
import os
import pkgutil
import sys
import time
import traceback
from importlib import import_module
from typing import Any

import streamlit.web.bootstrap  # noqa: F401
import torch  # noqa: F401
import transformers  # noqa: F401
from streamlit.web.cli import main as streamlit_main

import specviz.engines.embedded.opening
import specviz.views
import specviz.web

SCRIPTS = ("specviz.views.navigation",)
"""Modules that Streamlit runs, and that nobody imports."""

ended: dict[int, int] = {}
"""Exit codes by process id."""


def import_views() -> None:
    for module in pkgutil.walk_packages(specviz.views.__path__, "specviz.views."):
        if module.name not in SCRIPTS:
            import_module(module.name)


def start(script: str, port: int, log: str, environment: dict[str, str]) -> int:
    """The app in a process and session of its own; returns its id."""
    if pid := os.fork():
        return pid
    try:
        os.setsid()
        os.environ.clear()
        os.environ.update(environment)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.argv = ["streamlit", "run", script, f"--server.port={port}"]
        streamlit_main(sys.argv[1:], standalone_mode=False)
    except BaseException:  # nobody above reports it: this is a fork in the middle of `main`
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(1)


def wait(pid: int, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while pid not in ended:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            ended[pid] = os.waitstatus_to_exitcode(status)
        elif time.monotonic() >= deadline:
            return None
        else:
            time.sleep(0.02)
    return ended[pid]


def answer(asked: dict[str, Any]) -> int | None:
    return start(**asked["start"]) if "start" in asked else wait(asked["wait"], asked["seconds"])


def main() -> None:
    import_views()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

"""Starts the app again and again: what it imports is imported once, and each start is a fork.

Lines in: a port and a database, or `[]`: wait for the end. Lines out: a process id, or a status.
"""

from __future__ import annotations

import json
import os
import sys

import streamlit.web.bootstrap  # noqa: F401
import torch  # noqa: F401
import transformers  # noqa: F401
from streamlit.web.cli import main as streamlit_main

import specviz.runtime
import specviz.web  # noqa: F401


def start(port: int, db: str) -> int:
    """The app in a process and session of its own; returns its id."""
    if pid := os.fork():
        return pid
    try:
        os.setsid()
        os.environ["SPECVIZ_STORE"] = db
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv = ["streamlit", "run", "app.py", f"--server.port={port}"]
        streamlit_main(sys.argv[1:], standalone_mode=False)
    finally:
        os._exit(1)


def main() -> None:
    pid = 0
    for line in sys.stdin:
        words = json.loads(line)
        if words:
            pid = start(*words)
            print(pid, flush=True)
        else:
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    main()

"""Runs a server as a child and ends it, with all of its children, when whoever started it is gone.

Usage: python guard.py COMMAND…, with a pipe as standard input. The pipe's other end belongs to the
process that started the server: it closes when that process lets go of it or dies, kill -9
included. Standard library only, and no import of specviz: it starts in 20 ms.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
import time

TERM_WAIT_S = 8.0
POLL_S = 0.1
PR_SET_PDEATHSIG = 1


def main(command: list[str]) -> int:
    """Run `command` until it ends, the pipe closes or a signal comes. Returns its exit code."""
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever holds the pipe
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_die_with_parent
    )
    while child.poll() is None and not ended.is_set():
        readable, _, _ = select.select([sys.stdin], [], [], POLL_S)
        if readable and not os.read(sys.stdin.fileno(), 1):
            break
    end_group(child)
    return child.returncode


def end_group(child: subprocess.Popen[bytes]) -> None:
    """Ask the child's process group to end, wait, then kill what is left of it."""
    if child.poll() is None:
        _signal_group(child.pid, signal.SIGTERM)
        deadline = time.monotonic() + TERM_WAIT_S
        while child.poll() is None and time.monotonic() < deadline:
            time.sleep(POLL_S)
    _signal_group(child.pid, signal.SIGKILL)
    child.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return


def _die_with_parent() -> None:
    """Between fork and exec: should the guard itself be killed, Linux ends the server."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Files between the worker, which appends trace lines, and the API process, which serves them.

One private folder per server, one `<key>.jsonl` per traced request. The first process of the
server to load the plugin makes the folder and passes it on to its children in the environment;
it is removed when that process ends, or, if it was killed, by the next server that starts.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER_VARIABLE = "SPECVIZ_TRACE_DIR"
FOLDER_PREFIX = "specviz-trace-"
MAX_TRACE_BYTES = 32 * 2**20
MAX_SPOOL_BYTES = 256 * 2**20
MAX_IDLE_S = 300.0
"""A trace that nobody has written to for so long is removed when the next one begins."""

Json = dict[str, Any]
Line = Callable[[], Json | None]
"""Makes a line, or None if the step gave none."""


def open_folder() -> Path:
    """This server's folder, made (mode 0700) by the first process that asks.

    Where none can be made, a path that is not there: the server serves untraced and says why.
    """
    if folder := os.environ.get(FOLDER_VARIABLE):
        return Path(folder)
    try:
        remove_abandoned_folders()
        path = Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-"))
    except OSError:
        return Path(os.environ.get("TMPDIR", "/tmp")) / f"{FOLDER_PREFIX}none"
    os.environ[FOLDER_VARIABLE] = str(path)
    atexit.register(_remove_own_folder, path, os.getpid())
    return path


def remove_abandoned_folders() -> None:
    """Remove the folders of servers of this user that no longer run."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*-*"):
        pid = folder.name.removeprefix(FOLDER_PREFIX).partition("-")[0]
        if pid.isdigit() and not _is_alive(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def why_unusable(folder: Path) -> str | None:
    """Why no traces can be written there, None if they can."""
    if os.access(folder, os.W_OK | os.X_OK):
        return None
    return f"its folder for traces, {folder}, cannot be written: set TMPDIR to one that can."


def trace_path(folder: Path, key: str) -> Path:
    """The file of one trace; `key` must have passed `keys.is_key`."""
    return folder / f"{key}.jsonl"


def write_handshake(folder: Path, handshake: Json) -> None:
    """Report to the API process what the worker can trace; whole or not at all."""
    fresh = folder / f"handshake.{os.getpid()}"
    fresh.write_text(json.dumps(handshake))
    fresh.replace(folder / "handshake.json")


def read_handshake(folder: Path) -> Json | None:
    """What the worker reported, None if it has not."""
    try:
        handshake: Json = json.loads((folder / "handshake.json").read_text())
    except FileNotFoundError:
        return None
    return handshake


class SpoolWriter:
    """Appends lines from its own thread, so that the engine's step does not wait for disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._queue: queue.SimpleQueue[tuple[str, Line | None]] = queue.SimpleQueue()
        self._files: dict[str, int] = {}
        self._bytes: dict[str, int] = {}
        threading.Thread(target=self._run, name="specviz-spool", daemon=True).start()

    def append(self, key: str, line: Line) -> None:
        """Queue one line of the trace `key`; `line` makes it, in the spool's thread."""
        self._queue.put((key, line))

    def finish(self, key: str) -> None:
        """No line of this trace will follow."""
        self._queue.put((key, None))

    def _run(self) -> None:
        while True:
            key, line = self._queue.get()
            # A full disk costs trace lines, never the server.
            with contextlib.suppress(OSError):
                if line is None:
                    self._close(key)
                else:
                    self._write(key, line)

    def _write(self, key: str, line: Line) -> None:
        if key not in self._files:
            remove_old_traces(self._folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            self._files[key] = os.open(trace_path(self._folder, key), flags, 0o600)
            self._bytes[key] = 0
        if self._bytes[key] < MAX_TRACE_BYTES and (content := made(line)) is not None:
            data = json.dumps(content, separators=(",", ":")).encode() + b"\n"
            self._bytes[key] += os.write(self._files[key], data)

    def _close(self, key: str) -> None:
        file = self._files.pop(key, None)
        self._bytes.pop(key, None)
        if file is not None:
            os.close(file)


def made(line: Line) -> Json | None:
    """The line, or what kept it from being made: one bad step must not end the thread."""
    try:
        return line()
    except Exception as error:
        return failure(error)


def failure(error: Exception) -> Json:
    """In place of a line that could not be made."""
    return {"error": f"{type(error).__name__}: {error}"}


def remove_old_traces(folder: Path) -> None:
    """Remove traces that nobody came for, and the oldest ones beyond `MAX_SPOOL_BYTES`."""
    traces = sorted(
        ((path.stat(), path) for path in folder.glob("*.jsonl")), key=lambda item: item[0].st_mtime
    )
    total, now = sum(stat.st_size for stat, _ in traces), time.time()
    for stat, path in traces:
        if now - stat.st_mtime > MAX_IDLE_S or total > MAX_SPOOL_BYTES:
            path.unlink(missing_ok=True)
            total -= stat.st_size


def _remove_own_folder(path: Path, owner_pid: int) -> None:
    if os.getpid() == owner_pid:  # atexit also runs in forked children
        shutil.rmtree(path, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

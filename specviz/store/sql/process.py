"""One process of users' SQL, seen from the app: started, asked, killed."""

from __future__ import annotations

import logging
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from specviz.errors import StoreError
from specviz.store.sql.confinement import isolated_command
from specviz.store.sql.frames import HEADER, MOST_BYTES, packed, unpacked

_log = logging.getLogger(__name__)

CHUNK = 1 << 20
WAITING_EVERY_S = 0.1
DYING_S = 5.0

_CHILD = "specviz.store.sql.child"

_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
_OF_A_LAKE = ("HOME", "PG", "AWS_", "DUCKDB_S3_")
"""Variables, or their beginnings: libpq's and S3's own, and where ~/.pgpass is."""

_ALLOCATOR = {"DUCKDB_JE_MALLOC_CONF": "retain:false,dirty_decay_ms:1000"}
"""What DuckDB's allocator kept of one query's memory, the next could not have."""


class Overdue(Exception):
    """The process has not answered in time."""


class Ended(StoreError):
    """The process ended before it answered."""


class SqlProcess:
    """Answers one request after the other. Used by one thread at a time."""

    def __init__(self, folder: Path, *, of_a_lake: bool) -> None:
        """Start it; it ends with the calling thread. `folder` is made, for its files alone.

        Raises StoreError.
        """
        self._folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True)
            self._process = subprocess.Popen(
                isolated_command(_CHILD, os.getpid(), str(folder)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(of_a_lake=of_a_lake),
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for the program that started it
            )
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            reason = error.strerror or error
            raise StoreError(f"The process for queries cannot be started: {reason}.") from error
        os.set_blocking(self._out, False)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def _out(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def send(self, request: Mapping[str, Any]) -> None:
        """Raises Ended if it has."""
        assert self._process.stdin is not None
        frame = memoryview(packed(request))
        try:
            while frame:
                frame = frame[self._process.stdin.write(frame) :]
        except OSError as error:
            raise Ended(self._died()) from error

    def receive(self, until: float, while_waiting: Callable[[], None]) -> dict[str, Any]:
        """The next answer. `while_waiting` is called now and then; what it raises passes through.

        Raises Overdue at `until` (of `time.monotonic`), Ended if the process ends.
        """
        found = bytearray()
        wanted = HEADER.size
        is_header = True
        poll = select.poll()
        poll.register(self._out, select.POLLIN)
        while True:
            left = until - time.monotonic()
            if left <= 0:
                raise Overdue
            if not poll.poll(1000 * min(left, WAITING_EVERY_S)):
                while_waiting()
                continue
            chunk = os.read(self._out, min(CHUNK, wanted - len(found)))
            if not chunk:
                raise Ended(self._died())
            found += chunk
            if len(found) < wanted:
                continue
            if not is_header:
                return self._read(found)
            (wanted,) = HEADER.unpack(found)
            found, is_header = bytearray(), False
            if wanted > MOST_BYTES:
                raise StoreError("The process for queries sent no answer: ask again.")

    def kill(self) -> None:
        """End it now, whatever it does. Any thread may; who waits for its answer gets Ended."""
        self._process.kill()

    def discard(self) -> None:
        """Kill it and remove its files; it is not used any more."""
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):  # the kernel has it; nothing of it comes back
            self._process.wait(DYING_S)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _read(self, body: bytearray) -> dict[str, Any]:
        try:
            return unpacked(body)
        except (ValueError, ArithmeticError, TypeError) as error:
            raise StoreError("The process for queries sent no answer: ask again.") from error

    def _died(self) -> str:
        """Why it has ended, in a sentence."""
        try:
            status = self._process.wait(DYING_S)
        except subprocess.TimeoutExpired:
            return "The process for queries closed its answer: ask again."
        if status == -signal.SIGKILL:
            return "The query was stopped: its process was ended from outside. Ask again."
        if status in (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS):
            name = signal.Signals(-status).name
            _log.warning("A process of users' SQL ended (%s): %s", name, self._last_words())
            return (
                f"The query ended its process ({name}), most often a query that takes more memory "
                "than it may: ask for less."
            )
        return f"The process for queries ended (exit status {status}): {self._last_words()}."

    def _last_words(self) -> str:
        assert self._process.stderr is not None
        said = self._process.stderr.read(CHUNK).decode(errors="replace")
        return said.strip().split("\n")[-1][:300]


def _environment(*, of_a_lake: bool) -> dict[str, str]:
    """No secret of this process; libpq's and S3's where the data are behind them."""
    names = (*_ENVIRONMENT, *(_OF_A_LAKE if of_a_lake else ()))
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in names or (of_a_lake and name.startswith(_OF_A_LAKE))
    }
    kept.pop("PGPASSWORD", None)  # comes with the request: it would be in /proc/PID/environ
    return {**kept, **_ALLOCATOR}

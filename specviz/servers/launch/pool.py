"""The servers that this process started: one per configuration, reused, stopped together."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from specviz.errors import ServerStartFailed, SpecvizError
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server, start_server

MAX_SERVERS = 4
"""Servers kept at once: one takes a gigabyte or two."""

START_TIMEOUT_S = 300.0


class ServerPhase(StrEnum):
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(slots=True)
class Slot:
    """One configuration and the server that runs it, if any; `log` is there before it is ready."""

    spec: ServerSpec
    phase: ServerPhase = ServerPhase.STARTING
    note: str = ""
    server: Server | None = None
    log: Path | None = None
    last_used: int = 0
    cancel: threading.Event = field(default_factory=threading.Event)


class ServerPool:
    """Starts servers on demand. All methods may be called from any thread.

    `max_servers` None keeps as many as are asked for: the caller stops those no longer needed.
    """

    def __init__(self, log_dir: Path, max_servers: int | None = MAX_SERVERS) -> None:
        self._log_dir = log_dir
        self._max_servers = max_servers
        self._slots: dict[ServerSpec, Slot] = {}
        self._locks: dict[ServerSpec, threading.Lock] = {}
        self._lock = threading.Lock()
        self._clock = 0
        self._closing = threading.Event()

    def ensure(self, spec: ServerSpec, note: Callable[[str], None]) -> Server:
        """A healthy server for `spec`, started if none runs; blocks while it loads.

        Raises ServerStartFailed with the server's own reason.
        """
        with self._lock:
            spec_lock = self._locks.setdefault(spec, threading.Lock())
        while not spec_lock.acquire(timeout=0.5):  # another arm is starting the same server
            slot = self._slots.get(spec)
            note(slot.note if slot else "waiting for the same server")
        try:
            slot = self._slots.get(spec)
            if slot and slot.server and slot.phase is ServerPhase.READY and slot.server.is_alive():
                self._touch(slot)
                return slot.server
            return self._start(spec, note)
        finally:
            spec_lock.release()

    def slots(self) -> list[Slot]:
        """Every configuration seen so far, with its present phase."""
        slots = list(self._slots.values())
        for slot in slots:
            if slot.phase is ServerPhase.READY and slot.server and not slot.server.is_alive():
                slot.phase = ServerPhase.FAILED
                slot.note = slot.server.failure_reason() or "the server has exited"
        return slots

    def stop(self, spec: ServerSpec) -> None:
        """Stop one server, also while it starts; nothing happens if it does not run."""
        slot = self._slots.get(spec)
        if slot and slot.phase is ServerPhase.STARTING:
            slot.cancel.set()
        elif slot and slot.server:
            slot.server.stop()
            slot.phase, slot.note, slot.server = ServerPhase.STOPPED, "", None

    def forget(self, spec: ServerSpec) -> None:
        """Take a server that failed off the list; nothing happens to one that runs."""
        with self._lock:
            slot = self._slots.get(spec)
            if slot is not None and slot.phase is ServerPhase.FAILED:
                del self._slots[spec]

    def close(self) -> None:
        """Stop everything, servers that are still loading included."""
        self._closing.set()
        for spec in list(self._slots):
            self.stop(spec)

    def _start(self, spec: ServerSpec, note: Callable[[str], None]) -> Server:
        slot = Slot(spec)
        with self._lock:
            self._slots[spec] = slot
        self._make_room(spec)
        if self._closing.is_set():
            slot.cancel.set()

        def launched(log: Path) -> None:
            slot.log = log

        def progress(text: str) -> None:
            slot.note = text
            note(text)

        try:
            server = start_server(
                spec,
                log_dir=self._log_dir,
                on_progress=progress,
                timeout_s=START_TIMEOUT_S,
                cancel=slot.cancel,
                on_launch=launched,
            )
        except SpecvizError as error:
            if slot.cancel.is_set():
                slot.phase, slot.note = ServerPhase.STOPPED, ""
            else:
                slot.phase, slot.note = ServerPhase.FAILED, str(error)
            raise
        slot.server, slot.phase = server, ServerPhase.READY
        self._touch(slot)
        if slot.cancel.is_set():
            self.stop(spec)
            raise ServerStartFailed("The server was stopped again as soon as it was ready.")
        return server

    def _touch(self, slot: Slot) -> None:
        with self._lock:
            self._clock += 1
            slot.last_used = self._clock

    def _make_room(self, spec: ServerSpec) -> None:
        if self._max_servers is None:
            return
        ready = [
            slot
            for slot in self._slots.values()
            if slot.phase is ServerPhase.READY and slot.spec != spec
        ]
        too_many = max(0, len(ready) + 1 - self._max_servers)
        for slot in sorted(ready, key=lambda slot: slot.last_used)[:too_many]:
            self.stop(slot.spec)

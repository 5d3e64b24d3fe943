"""A machine whose use by others is made up, for tests that measure on a busy one."""

from __future__ import annotations

import time
from collections.abc import Callable, Set

import pytest

from specviz.analysis.benchmark.machine_use import Reading
from specviz.bench import machine_watch


def made_machine(
    monkeypatch: pytest.MonkeyPatch, others: Callable[[], float] = lambda: 0.0
) -> None:
    """Readings of one core of which others use the share `others()` between two readings."""
    at, busy = time.monotonic(), 0.0

    def read(roots: Set[int]) -> Reading:
        nonlocal at, busy
        now = time.monotonic()
        at, busy = now, busy + (now - at) * others()
        return Reading(now, 1, busy, 0.0)

    monkeypatch.setattr(machine_watch, "read_machine", read)

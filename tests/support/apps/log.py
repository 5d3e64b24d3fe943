"""The logs of the apps that tests run: a traceback in one fails the test that caused it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TRACEBACK = b"Traceback (most recent call last)"

_read: dict[Path, int] = {}
"""The logs that are written now, and how many bytes of each have been looked at."""


@contextmanager
def watched(log: Path) -> Iterator[None]:
    _read[log] = 0
    try:
        yield
        fail_on_tracebacks()
    finally:
        del _read[log]


def fail_on_tracebacks() -> None:
    """Fail if an app has logged a traceback since this was called before."""
    for log, before in _read.items():
        new = log.read_bytes()[before:]
        _read[log] = before + len(new)
        assert TRACEBACK not in new, new[new.index(TRACEBACK) :][:4000].decode(errors="replace")

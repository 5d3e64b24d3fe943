"""A ceiling on the memory of this process while a user's query runs.

DuckDB's `memory_limit` counts its buffers only: strings and lists that an expression makes are not
among them, and one vector of `repeat('x', 1e9)` would take 2 TB. Above the ceiling an allocation
fails, and DuckDB raises OutOfMemoryException; in code that may not throw it ends the process.

The ceiling is on addresses, so it works only if DuckDB returns them after a query: the package's
`__init__` configures its allocator to.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STATUS = Path("/proc/self/status")

_lock = threading.Lock()
_queries = 0
_before: tuple[int, int] = (-1, -1)


@contextmanager
def memory_ceiling(growth_bytes: int) -> Iterator[None]:
    """Let the process's data grow by this much; queries at the same time share the first's ceiling.

    Linux only (RLIMIT_DATA, getrlimit(2)); on other systems nothing is limited.
    """
    global _queries
    if not _STATUS.exists():
        yield
        return
    with _lock:
        if _queries == 0:
            _lower(growth_bytes)
        _queries += 1
    try:
        yield
    finally:
        with _lock:
            _queries -= 1
            if _queries == 0:
                _restore()


def _lower(growth_bytes: int) -> None:
    global _before
    import resource

    _before = soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    ceiling = _data_bytes() + growth_bytes
    if soft == resource.RLIM_INFINITY or ceiling < soft:
        resource.setrlimit(resource.RLIMIT_DATA, (ceiling, hard))


def _restore() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, _before)


def _data_bytes() -> int:
    for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{_STATUS} has no VmData.")

"""What this process keeps of the memory that it has freed, and what its collections look at.

glibc and Arrow keep it for the next allocation, and after a large export or import there may be
none as large for hours. DuckDB's own has a setting (`store/file/database.py`).
"""

from __future__ import annotations

import ctypes
import gc
import os

import pyarrow as pa

M_ARENA_MAX = -8  # malloc.h


def share_arenas() -> None:
    """Let this process's threads share one arena of memory per core.

    glibc gives new threads arenas of their own, eight per core, and what one thread has freed no
    other can use or return: requests, jobs and imports, each in a thread, hold more and more.
    Arrow's mimalloc does the same with a heap per thread, so that `app.py` has Arrow allocate from
    glibc: before pyarrow is imported, because a pool that is set later is not that of Parquet
    files. What the operator chose with MALLOC_ARENA_MAX or ARROW_DEFAULT_MEMORY_POOL stays, and so
    do the arenas of other C libraries.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None and "MALLOC_ARENA_MAX" not in os.environ:
        mallopt(M_ARENA_MAX, os.cpu_count() or 1)


def return_freed() -> None:
    """Return what was freed to the system; on other C libraries than glibc, Arrow's part."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def leave_out_of_collections() -> None:
    """Let garbage collections pass over all that this process has made so far.

    Modules, classes and functions live as long as the process, and are nearly all that there is to
    look at: a collection of an app with torch took 0.2 s, during which no other thread runs, and
    Streamlit starts one whenever a page has run.
    """
    gc.collect()
    gc.freeze()

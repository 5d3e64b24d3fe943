"""How the process is started that runs users' SQL, and what it takes from itself before.

It cannot get that back. Linux has all of it; elsewhere there are DuckDB's own settings and the
parent's kill.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from specviz.paths import PROJECT_ROOT

_STATUS = Path("/proc/self/status")
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38

# linux/landlock.h
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_READ_FILE, _READ_DIR, _TRUNCATE = 1 << 2, 1 << 3, 1 << 14
_FIRST_ACCESSES = (1 << 13) - 1
_BIND_AND_CONNECT = 3
_O_PATH = 0o10000000


def isolated_command(module: str, *arguments: int | str, options: Sequence[str] = ()) -> list[str]:
    """The command line of a Python that calls `main(*arguments)` of `module`.

    Isolated (-I): no user's settings of Python, and modules from where this process has them. An
    editable install finds specviz by a hook, not by a path, so its folder is named. `options` are
    further ones of Python's.
    """
    paths = [os.path.abspath(place) for place in [*sys.path, str(PROJECT_ROOT)] if place]
    start = f"import sys; sys.path[:] = {paths!r}; from {module} import main; main(*{arguments!r})"
    return [sys.executable, "-I", *options, "-c", start]


def end_with(parent: int) -> None:
    """Die with the thread that started this process. Exits if it is gone already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def go_first() -> None:
    """Be the one that the kernel ends where the machine has no memory, without a core dump."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def limit_memory(growth_bytes: int) -> None:
    """Let the data of this process grow by this much from now (RLIMIT_DATA, getrlimit(2))."""
    if not _STATUS.exists():
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes() + growth_bytes, hard))


def data_bytes() -> int:
    """The size of this process's data; 0 where the system does not say."""
    if not _STATUS.exists():
        return 0
    for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{_STATUS} has no VmData.")


def confine_to(folder: Path, readable: Iterable[str]) -> bool:
    """Leave this process only the files in `folder`, `readable` ones to read, and no TCP.

    Landlock (landlock(7)). False where the kernel has none.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    # REFER, TRUNCATE and IOCTL_DEV came with versions 2, 3 and 5, TCP with 4
    since = ((2, 1 << 13), (3, _TRUNCATE), (5, 1 << 15))
    accesses = _FIRST_ACCESSES | sum(access for first, access in since if version >= first)
    handled = struct.pack("QQ", accesses, _BIND_AND_CONNECT)[: 16 if version >= 4 else 8]
    rules = libc.syscall(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0)
    allowed = [(str(folder), accesses), *((path, _READ_FILE | _READ_DIR) for path in readable)]
    for path, access in allowed:
        _allow(libc, rules, path, access)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    is_confined = bool(libc.syscall(_RESTRICT_SELF, rules, 0) == 0)
    os.close(rules)
    return is_confined


def _allow(libc: ctypes.CDLL, rules: int, path: str, access: int) -> None:
    try:
        place = os.open(path, _O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        access &= ~_READ_DIR
    libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", access, place), 0)
    os.close(place)

"""Who owns the database: a file next to it has the owner's process id and, for an app, its URL.

The lock that counts is DuckDB's own; this file only says where to send a run instead.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from specviz.errors import StoreError
from specviz.store.secret import read_secret


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that has the database open; `url` is None unless it is an app."""

    pid: int | None
    url: str | None = None


class StoreBusy(StoreError):
    """Another process has the database open.

    `url`, if any, is the app that accepts runs for it; `secret` lets its own user's commands in.
    """

    def __init__(self, path: Path, owner: Owner) -> None:
        self.pid = owner.pid
        self.url = owner.url
        self.secret = read_secret(path) if owner.url else None
        process = f"process {owner.pid}" if owner.pid else "another process"
        who = f"the specviz app at {owner.url} ({process})" if owner.url else process
        super().__init__(
            f"The database {path} is in use by {who}: "
            "end it first or choose another file with SPECVIZ_STORE."
        )


def sidecar(path: Path) -> Path:
    """The file that names the owner of the database at `path`."""
    return path.with_name(f"{path.name}.owner.json")


def write_owner(path: Path, url: str | None) -> None:
    """Name this process as the owner; readers never see half a file. Raises OSError."""
    new = sidecar(path).with_suffix(".new")
    try:
        new.write_text(json.dumps(asdict(Owner(os.getpid(), url))), encoding="utf-8")
        new.replace(sidecar(path))
    except OSError:
        new.unlink(missing_ok=True)
        raise


def remove_owner(path: Path) -> None:
    """Undo `write_owner`."""
    sidecar(path).unlink(missing_ok=True)


def read_owner(path: Path, lock_pid: int | None) -> Owner:
    """The owner of a locked database.

    `lock_pid` is the process that DuckDB found holding the lock, if it found one. A file left by a
    process that died without removing it does not count.
    """
    try:
        data = json.loads(sidecar(path).read_text(encoding="utf-8"))
        owner = Owner(int(data["pid"]), data["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return Owner(lock_pid)
    return owner if lock_pid in (None, owner.pid) else Owner(lock_pid)


def check_owner_gone(path: Path) -> None:
    """Raise StoreError if a living process owns the database at `path`.

    For a file that is missing or that nobody has locked: its owner has another one open, which was
    at this place. An owner takes its own file away before it lets go of the database.
    """
    owner = read_owner(path, None)
    if owner.pid in (None, os.getpid()) or not _wrote(owner.pid, sidecar(path)):
        return
    who = f"the specviz app at {owner.url}" if owner.url else f"process {owner.pid}"
    raise StoreError(
        f"The database {path} was moved away or replaced while {who} has it open: put it back, or "
        "end that process and run this again."
    )


def _wrote(pid: int | None, file: Path) -> bool:
    """Whether the process lives, and did when the file was written: a number is used again."""
    try:
        return float(psutil.Process(pid).create_time()) <= file.stat().st_mtime
    except (psutil.Error, OSError):
        return False

"""Copies of the database file for the processes of users' SQL.

DuckDB lets no second process open a file that one is writing, so those open a copy. It is kept
until something is committed; then only the log is copied, unless the file has changed, too.

`cp` copies, which shares blocks where the file system can. This process must not: closing any
descriptor of the file would release the lock that DuckDB holds on it (fcntl(2)).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from specviz.errors import StoreError
from specviz.store.file.database import Database

COPY_S = 120.0
SETTLED_NS = 50_000_000
"""A file changed this recently may change again without another time of change."""

_COPY = ["cp", "-c"] if sys.platform == "darwin" else ["cp", "--reflink=auto"]


def snapshot_folder(path: Path) -> Path:
    """Where the copies of a database are: next to it, where there is room and one file system."""
    return path.with_name(f"{path.name}.snapshot")


def remove_snapshots(path: Path) -> None:
    """Remove all copies of a database that this process has open."""
    shutil.rmtree(snapshot_folder(path), ignore_errors=True)


@dataclass
class Snapshot:
    """A copy of file and log, in a folder of its own, as it was after so many commits."""

    file: Path
    commits: int
    state: tuple[int, int] | None
    """Time of change and size of the file that was copied; None if it may be changing."""
    users: int = 0


class Snapshots:
    """The newest copy, and older ones that are still in use."""

    def __init__(self, database: Database, path: Path) -> None:
        self._database = database
        self._path = path
        self._folder = snapshot_folder(path)
        self._lock = threading.Lock()
        self._newest: Snapshot | None = None
        self._number = 0

    @contextmanager
    def held(self) -> Iterator[tuple[Path, datetime]]:
        """A copy with all that is committed, and the moment (UTC) at which that was so.

        Raises StoreError if it cannot be made.
        """
        with self._lock:
            as_of = datetime.now(UTC)
            snapshot = self._newest
            if snapshot is None or not self._is_fresh(snapshot):
                replaced, snapshot = snapshot, self._made()
                self._newest = snapshot
                _remove_unused(replaced)
            snapshot.users += 1
        try:
            yield snapshot.file, as_of
        finally:
            with self._lock:
                snapshot.users -= 1
                if snapshot is not self._newest:
                    _remove_unused(snapshot)

    def _is_fresh(self, snapshot: Snapshot) -> bool:
        return snapshot.commits == self._database.commits and snapshot.file.exists()

    def _made(self) -> Snapshot:
        self._number += 1
        folder = self._folder / str(self._number)
        try:
            folder.mkdir(mode=0o700, parents=True)
            return self._copied(folder / self._path.name)
        except (OSError, subprocess.SubprocessError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise StoreError(self._not_copied(error)) from error

    def _copied(self, copy: Path) -> Snapshot:
        with self._database.at_rest() as path:
            state, commits, newest = _state(path), self._database.commits, self._newest
            if newest and state and state == newest.state and newest.file.exists():
                os.link(newest.file, copy)
            else:
                _copy(path, copy)
            if (log := _log(path)).exists():
                _copy(log, _log(copy))
        return Snapshot(copy, commits, state)

    def _not_copied(self, error: Exception) -> str:
        said = getattr(error, "stderr", None) or str(error)
        reason = str(said).strip().split("\n")[0].rpartition(": ")[2].removesuffix(".")
        size = self._path.stat().st_size if self._path.exists() else 0
        return (
            f"Queries read a copy of the database, and it could not be made ({reason}): "
            f"make {max(size >> 20, 1):,} MB of room in the database's folder and ask again."
        )


def _copy(source: Path, target: Path) -> None:
    subprocess.run(
        [*_COPY, "--", str(source), str(target)],
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=COPY_S,
    )


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")


def _state(path: Path) -> tuple[int, int] | None:
    found = path.stat()
    settled = time.time_ns() - found.st_mtime_ns > SETTLED_NS
    return (found.st_mtime_ns, found.st_size) if settled else None


def _remove_unused(snapshot: Snapshot | None) -> None:
    if snapshot is not None and snapshot.users == 0:
        shutil.rmtree(snapshot.file.parent, ignore_errors=True)

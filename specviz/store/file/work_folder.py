"""Folders for files on their way in or out; those of killed processes are removed later.

A folder is locked while its process lives, so a lock that can be taken says that its owner died,
however long ago and whatever its process id belongs to now.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".specviz-work-"
"""Nobody else's: whatever begins with it and is not locked gets removed."""


@contextmanager
def work_folder(parent: Path | None = None) -> Iterator[Path]:
    """An empty folder in `parent`, or where temporary files go; removed at the end.

    What killed processes left in the same place is removed first. Raises OSError.
    """
    parent = parent or Path(tempfile.gettempdir())
    remove_abandoned(parent)
    folder, lock = _new(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_abandoned(parent: Path | None = None) -> None:
    """Remove work folders whose process ended without doing so."""
    for folder in (parent or Path(tempfile.gettempdir())).iterdir():
        if folder.name.startswith(PREFIX):
            with suppress(OSError):  # somebody else's, in use, or gone by now
                lock = _lock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                try:
                    if os.fstat(lock).st_uid == os.getuid():
                        shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(lock)


def _new(parent: Path) -> tuple[Path, int]:
    """A locked folder; another process may remove it before it is locked, so it is tried again."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        with suppress(FileNotFoundError):
            lock = _lock(folder, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _lock(folder: Path, how: int) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, how)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor

"""A damaged database file: it is copied before anything else happens."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import duckdb

_CORRUPT = ("corrupt", "checksum", "Serialization Error", "Failed to load metadata")
_ELSEWHERE = (
    *("Permission denied", "No space left", "Read-only file system"),
    *("Too many open files", "Is a directory"),
)
_DISK = {
    "No space left": "Its disk is full: make room there",
    "Read-only file system": "Its file system is read-only: make it writable",
}


def is_damage(error: duckdb.Error) -> bool:
    """Whether a query failed because of the content of the file."""
    return any(sign.lower() in str(error).lower() for sign in _CORRUPT)


def cannot_open(path: Path, reason: str) -> str:
    """The message for a file that DuckDB does not open; it is copied if it can be read."""
    if any(sign in reason for sign in _ELSEWHERE) or not path.is_file():
        advice = disk_advice(reason) or " Move it away or set SPECVIZ_STORE to another file."
        return f"{path} cannot be opened as a specviz database ({reason}).{advice}"
    return (
        f"{path} cannot be opened as a specviz database ({reason}): {copied_aside(path)}; it is "
        "left as it is. Move it away, or set SPECVIZ_STORE to another file, and "
        "`specviz import` your last export."
    )


def disk_advice(reason: str) -> str:
    """What to do about a disk that takes nothing; empty where that is not the reason."""
    found = [advice for sign, advice in _DISK.items() if sign in reason]
    return f" {found[0]}, or set SPECVIZ_STORE to a file on another one." if found else ""


def found_damaged(path: Path, reason: str) -> str:
    """The message for damage found while reading; nothing more may be written to the file."""
    return (
        f"{path} is damaged ({reason}): {copied_aside(path)}, and nothing is written to it any "
        "more. Export what can still be read, set SPECVIZ_STORE to another file and import it."
    )


def copied_aside(path: Path) -> str:
    """Copy file and log in their folder, once for each state; returns where, or why not."""
    try:
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        copy = path.with_name(f"{path.name}.damaged-{changed:%Y%m%dT%H%M%S.%f}")
        log = path.with_name(f"{path.name}.wal")
        for source, target in ((path, copy), (log, copy.with_name(f"{copy.name}.wal"))):
            if source.exists() and not _is_copied(source, target):
                shutil.copy2(source, target)
    except OSError as error:
        return f"no copy could be made ({error.strerror or error})"
    return f"a copy is {copy.name}"


def _is_copied(source: Path, target: Path) -> bool:
    return target.exists() and target.stat().st_size == source.stat().st_size

"""The secret of a running app: a file next to the store that only the app's own user can read.

A command that can read it is a program of that user. It is new at every start and removed
at the end, so that whoever takes the app's port afterwards is sent nothing of use.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from specviz.errors import StoreError
from specviz.paths import DATA
from specviz.store.location import Lake, Location

MODE = 0o600

_SECRET = re.compile(r"[0-9a-f]{64}")


def secret_path(location: Location) -> Path:
    """Next to the database file; a shared store has none, and its apps use the data folder."""
    if isinstance(location, Lake):
        return DATA / "shared-store.secret"
    path = location.expanduser().resolve()
    return path.with_name(f"{path.name}.secret")


@contextmanager
def published_secret(location: Location) -> Iterator[str]:
    """A new secret, in its file until the block is left. Raises StoreError if it has no place."""
    path, secret = secret_path(location), secrets.token_hex(32)
    try:
        _write(path, secret)
    except OSError as error:
        raise StoreError(f"The app's secret cannot be written to {path}: {error}.") from error
    try:
        yield secret
    finally:
        if read_secret(location) == secret:  # not another app's on the same shared store
            path.unlink(missing_ok=True)


def read_secret(location: Location) -> str | None:
    """The secret of the app that has this store; None without an app, or if it is not ours."""
    try:
        text = secret_path(location).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None
    return text if _SECRET.fullmatch(text) else None


def _write(path: Path, secret: str) -> None:
    """Never readable for others, not even while it is written."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, MODE), "w") as file:
        file.write(secret)
    new.replace(path)

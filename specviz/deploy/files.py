"""A launch's files on disk, or as one archive to download."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from specviz.errors import UsageError

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time in an archive: the same files are the same bytes."""


def write(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Writes the files into a folder, which is made if it is not there; their paths.

    Raises UsageError before anything is written if one of them exists, or cannot be written.
    """
    paths = {folder / name: text for name, text in files.items()}
    there = [str(path) for path in paths if path.exists()]
    if there:
        raise UsageError(f"{', '.join(there)} exists: name another folder, or remove it first.")
    try:
        for path, text in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"Nothing can be written to {folder}: {error.strerror}.") from None
    return list(paths)


def archive(files: Mapping[str, str]) -> bytes:
    """The files as a zip."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in sorted(files.items()):
            packed.writestr(zipfile.ZipInfo(name, EPOCH), text)
    return content.getvalue()

"""Weights that torch pickled: only whether the file is whole.

Unpickling runs what the file says, so names, shapes and values of the tensors are not read.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from specviz.errors import UsageError


def check_pickled(path: Path) -> None:
    """Raises UsageError for a file that is not a whole zip archive of torch's."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise UsageError(
            f"{path} is not a whole file of torch's ({error}): copy it again, or save it as "
            "safetensors."
        ) from error
    if not any(name.endswith("/data.pkl") or name == "data.pkl" for name in names):
        raise UsageError(f"{path} is a zip archive without weights: save them as safetensors.")

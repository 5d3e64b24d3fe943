"""Weights that torch pickled: the names in them.

Unpickling runs what the file says, so shapes and values of the tensors are not read. Names are
text in the pickle's instructions, which are listed here and not run.
"""

from __future__ import annotations

import pickletools
import zipfile
import zlib
from pathlib import Path

from specviz.errors import UsageError

_DAMAGE = (
    OSError, zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, RuntimeError,
)  # fmt: skip
LARGEST_PICKLE = 16 << 20
"""Bytes. The weights are in other members of the archive: a model of 100,000 tensors has less."""


def names_in(path: Path) -> frozenset[str]:
    """Every text in the pickle of a zip archive of torch's, the names of tensors among them.

    Raises UsageError for a file that is not a whole one.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            place = next((one for one in archive.infolist() if _is_pickle(one)), None)
            if place is None:
                raise UsageError(
                    f"{path} is a zip archive without weights: save them as safetensors."
                )
            with archive.open(place) as file:
                pickle = file.read(LARGEST_PICKLE)
        found = pickletools.genops(pickle)
        return frozenset(text for _, text, _ in found if isinstance(text, str))
    except _DAMAGE as error:
        raise UsageError(
            f"{path} is not a whole file of torch's ({error}): copy it again, or save it as "
            "safetensors."
        ) from error


def _is_pickle(member: zipfile.ZipInfo) -> bool:
    return member.filename.rpartition("/")[2] == "data.pkl"

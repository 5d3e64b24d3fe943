"""GGUF files of models that servers were started with: written once, used again.

They are not shipped: one is as large as the model, and written in a second or two.
"""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path

from specviz.methods import Method
from specviz.models.pair import default_draft, pair_of
from specviz.paths import cache_folder
from specviz.servers.llama_cpp.conversion.gguf_file import read_llama, write_gguf

FORMAT = "1"
"""Of what is written here; another one makes every cached file again."""


def gguf_of(model: Path) -> Path:
    """The GGUF file of a model: itself, or of a Hugging Face folder the one in the cache, written
    now if the folder has changed since.

    Raises UsageError for a folder that is not a plain Llama.
    """
    if model.is_file():
        return model
    read_llama(model)
    file = _place_of(model)
    if not file.is_file():
        write_gguf(model, file)
    return file


def forget_gguf(model: Path) -> None:
    """Remove the file that was written of a folder, if there is one."""
    _place_of(model).unlink(missing_ok=True)


def write_default_models() -> None:
    """Write the default model and its draft model where a server will look for them, if xllamacpp
    is installed and they are not there. Raises UsageError where the model cannot be had."""
    if find_spec("xllamacpp") is None:
        return
    gguf_of(Path(pair_of(None, None, Method.BASELINE).target))
    if draft := default_draft(Method.DRAFT_MODEL):
        gguf_of(draft)


def _place_of(model: Path) -> Path:
    return cache_folder("gguf") / f"{model.name}-{_fingerprint(model)}.gguf"


def _fingerprint(folder: Path) -> str:
    """Of the folder's place and of every file's name, size and time of change."""
    found = hashlib.sha256(f"{FORMAT} {folder.resolve()}".encode())
    for file in sorted(folder.iterdir()):
        about = file.stat()
        found.update(f"\0{file.name} {about.st_size} {about.st_mtime_ns}".encode())
    return found.hexdigest()[:16]

"""The drafts that ship with specviz: files of 8 bits a weight, written as folders beside their
target.

A file of data/drafts is GGUF (`scripts/pack_draft.py` writes it) with the tensors of a draft under
their own names: matrices as Q8_0, the rest as it was. Tensors that are the target's own, or rows of
one, are not in it: `specviz.taken` says where they come from. `specviz.target` has the shapes of
the target's matrices, `specviz.config` is the folder's config.json, `specviz.tokenizer` says
whether the target's tokenizer belongs to it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specviz.checkpoints.files.gguf import GgufFile, read_gguf
from specviz.checkpoints.files.safetensors import Tensor, read_bytes, read_header
from specviz.checkpoints.files.written import (
    Written,
    copy_tokenizer,
    write_json,
    write_safetensors,
)
from specviz.models.from_gguf import in_bfloat16
from specviz.paths import DRAFTS

MADE = "specviz_made"
"""The key of config.json that says which version of a draft is in a folder."""

I8, I64 = 24, 27


def shipped_drafts(target: str) -> list[Path]:
    """The files of the drafts for the target of this name."""
    return sorted(DRAFTS.glob(f"{target}-*.gguf"))


def is_for(file: Path, target: Path) -> bool:
    """Whether the model in a folder has the shapes of the one that a draft was trained for."""
    shapes = json.loads(read_gguf(file).metadata["specviz.target"])
    own = read_header(target / "model.safetensors")
    found = {name: list(one.shape) for name, one in own.items() if len(one.shape) == 2}
    return bool(found == shapes)


def is_current(file: Path, folder: Path) -> bool:
    """Whether a folder has the draft of a file, and this version of it."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(config.get(MADE) == read_gguf(file).metadata["specviz.made"])


def write_draft(file: Path, target: Path, folder: Path) -> None:
    """Write the draft in a file for the model in `target` into `folder`, which exists.

    Raises UsageError for a file that is damaged, OSError where the folder cannot be written.
    """
    packed = read_gguf(file)
    config = json.loads(packed.metadata["specviz.config"])
    taken = json.loads(packed.metadata["specviz.taken"])
    own = read_header(target / "model.safetensors")
    tensors = {name: _unpacked(packed, name) for name in packed.tensors}
    tensors |= {name: _from_target(own, packed, **how) for name, how in taken.items()}
    write_safetensors(folder / "model.safetensors", tensors)
    if packed.metadata["specviz.tokenizer"]:
        copy_tokenizer(target, folder)
    shutil.copyfile(DRAFTS / "README.md", folder / "README.md")
    write_json(folder / "config.json", config | {MADE: packed.metadata["specviz.made"]})


def _unpacked(file: GgufFile, name: str) -> Written:
    tensor = file.tensors[name]
    shape = tuple(reversed(tensor.shape))
    if tensor.kind in (I8, I64):
        kind = "BOOL" if tensor.kind == I8 else "I64"
        return Written(kind, shape, lambda: file.read(name))
    return Written("BF16", shape, lambda: in_bfloat16(file, name).tobytes())


def _from_target(
    target: dict[str, Tensor], file: GgufFile, tensor: str, rows: str | None
) -> Written:
    """A tensor of the target, or those of its rows whose numbers another tensor of the file has."""
    found = target[tensor]
    if rows is None:
        return Written(found.dtype, found.shape, lambda: read_bytes(found))

    def chosen() -> NDArray[Any]:
        whole = np.frombuffer(read_bytes(found), np.uint16).reshape(found.shape)
        return whole[np.frombuffer(file.read(rows), np.int64)]

    count = file.tensors[rows].shape[0]
    return Written(found.dtype, (count, *found.shape[1:]), lambda: chosen().tobytes())

"""Writing a folder: tensors as they are stored elsewhere, copied byte for byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specviz.checkpoints.files.safetensors import BITS, Tensor, read_bytes
from specviz.errors import UsageError

ALIGNMENT = 8
"""Bytes; the tensors begin at a multiple of it, and the widest come first."""


def write_folder(folder: Path, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """A new folder with config.json and model.safetensors, there in one rename.

    Raises UsageError where there is something already.
    """
    if folder.exists():
        raise UsageError(f"{folder} is there already: name a new folder with --out.")
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    try:
        write_safetensors(fresh / "model.safetensors", tensors)
        text = json.dumps(config, indent=2, ensure_ascii=False)
        (fresh / "config.json").write_text(f"{text}\n", encoding="utf-8")
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def write_safetensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """The tensors under their new names, in the order in which the safetensors library writes."""
    ordered = sorted(tensors.items(), key=lambda item: (-BITS[item[1].dtype], item[0]))
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, tensor in ordered:
        begin, end = end, end + tensor.end - tensor.start
        header[name] = {
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, tensor in ordered:
            file.write(read_bytes(tensor))

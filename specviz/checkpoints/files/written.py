"""Writing a folder in the format of Hugging Face, without torch."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specviz.checkpoints.files.safetensors import BITS, Tensor, read_bytes
from specviz.errors import UsageError

ALIGNMENT = 8
"""Bytes; the tensors begin at a multiple of it, and the widest come first."""

TOKENIZER_FILES = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja"),
    *("vocab.json", "merges.txt", "generation_config.json"),
)


@dataclass(frozen=True, slots=True)
class Written:
    """A tensor to be written: `data` gives its bytes when its turn comes."""

    dtype: str
    shape: tuple[int, ...]
    data: Callable[[], bytes]

    @property
    def size(self) -> int:
        """Bytes."""
        return math.prod(self.shape) * BITS[self.dtype] // 8


def write_folder(folder: Path, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """A new folder with config.json and model.safetensors, there in one rename; the tensors are
    copied byte for byte.

    Raises UsageError where there is something already.
    """
    if folder.exists():
        raise UsageError(f"{folder} is there already: name a new folder with --out.")
    fresh = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    copies = {name: _copy(tensor) for name, tensor in tensors.items()}
    try:
        write_safetensors(fresh / "model.safetensors", copies)
        write_json(fresh / "config.json", config)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """A JSON file as Hugging Face writes it."""
    path.write_text(f"{json.dumps(data, indent=2, ensure_ascii=False)}\n", encoding="utf-8")


def copy_tokenizer(source: Path, folder: Path) -> None:
    """Copy the tokenizer of a folder, in as many files as it has."""
    for name in TOKENIZER_FILES:
        if (source / name).is_file():
            shutil.copyfile(source / name, folder / name)


def write_safetensors(
    path: Path, tensors: Mapping[str, Written], wrote: Callable[[int], None] = lambda count: None
) -> None:
    """The tensors, one at a time, in the order in which the safetensors library writes.

    `wrote` gets the bytes of each tensor once they are written.
    """
    ordered = sorted(tensors.items(), key=lambda item: (-BITS[item[1].dtype], item[0]))
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, tensor in ordered:
        begin, end = end, end + tensor.size
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
            file.write(tensor.data())
            wrote(tensor.size)


def _copy(tensor: Tensor) -> Written:
    return Written(tensor.dtype, tensor.shape, lambda: read_bytes(tensor))

"""The tensors of a Hugging Face folder, one at a time."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specviz.errors import UsageError

_STORED: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
}


@dataclass(frozen=True, slots=True)
class Weights:
    """One tensor as it is stored; `dtype` is F32, F16 or BF16, whose `values` are its bits."""

    dtype: str
    values: NDArray[Any]

    def float32(self) -> NDArray[np.float32]:
        """Every bfloat16 and float16 value is a float32 value too: nothing is rounded."""
        if self.dtype == "BF16":  # the upper half of a float32
            return (self.values.astype(np.uint32) << 16).view(np.float32)
        return self.values.astype(np.float32)


def tensors(folder: Path) -> Iterator[tuple[str, Weights]]:
    """Name and values of every tensor in `*.safetensors`.

    Raises UsageError where there is no such file, or one that is not whole.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise UsageError(f"{folder} has no *.safetensors file: save the model in that format.")
    for file in files:
        try:
            yield from _tensors_of(file)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UsageError(f"{file} cannot be read ({error}): copy it again.") from error


def _tensors_of(file: Path) -> Iterator[tuple[str, Weights]]:
    """8 bytes: the header's size; the header, JSON; then the values, without gaps."""
    data = np.memmap(file, dtype=np.uint8, mode="r")
    size = int.from_bytes(data[:8].tobytes(), "little")
    header = json.loads(data[8 : 8 + size].tobytes())
    for name, about in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + offset for offset in about["data_offsets"])
        stored = _STORED.get(about["dtype"])
        if stored is None:
            raise ValueError(f"{name} is {about['dtype']}, not a plain float")
        if end > len(data) or end - begin != math.prod(about["shape"]) * stored.itemsize:
            raise ValueError(f"{name} is not complete")
        values = data[begin:end].view(stored).reshape(about["shape"])
        yield name, Weights(about["dtype"], values)

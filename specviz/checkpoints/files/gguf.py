"""Headers of GGUF files: metadata and tensors, and a tensor's bytes as they are stored.

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md; block sizes as in `gguf` 0.19's
`constants.py`. Counts and lengths are held against the file's size before anything is made of them.
"""

from __future__ import annotations

import math
import struct
from array import array
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from specviz.checkpoints.files.safetensors import read_part
from specviz.errors import UsageError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
LARGEST_HEADER = 64_000_000
"""Bytes; a vocabulary of 260,000 tokens with its merges takes about ten million."""
USUAL_ALIGNMENT = 32
MOST_NUMBERS = 4096
"""Longer arrays of numbers (scores and types of tokens) come back as `array`, as small as they are
in the file."""

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q"} | {
    12: "d"
}
STRING, ARRAY = 8, 9

BLOCKS = {
    **{0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34)},
    **{9: (32, 40), 10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176)},
    **{14: (256, 210), 15: (256, 292), 16: (256, 66), 17: (256, 74), 18: (256, 98)},
    **{19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82), 23: (256, 136)},
    **{24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2)},
    **{34: (256, 54), 35: (256, 66), 39: (32, 17), 40: (64, 36), 41: (128, 18)},
}
"""Values and bytes of a block of every type, by the type's number."""


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """`shape` has the fastest dimension first as GGUF has it, `kind` is the type's number, `start`
    and `end` are bytes from the file's beginning."""

    shape: tuple[int, ...]
    kind: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class GgufFile:
    """`metadata` by key, `tensors` by name."""

    path: Path
    metadata: dict[str, Any]
    tensors: dict[str, GgufTensor]

    @property
    def architecture(self) -> str:
        return str(self.metadata.get("general.architecture"))

    @property
    def tokens(self) -> list[str] | None:
        """The vocabulary in the order of its ids, None where the file has none."""
        found = self.metadata.get("tokenizer.ggml.tokens")
        return found if isinstance(found, list) else None

    def size(self, key: str) -> int | None:
        """A whole number under the architecture's prefix, such as `block_count`."""
        found = self.metadata.get(f"{self.architecture}.{key}")
        return found if type(found) is int else None

    def read(self, name: str) -> bytes:
        """A tensor's bytes, as they are stored. Raises UsageError where they are gone."""
        tensor = self.tensors[name]
        return read_part(self.path, tensor.start, tensor.end)


class _Reader:
    """Reads forward and never beyond `limit` bytes."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file, self.left = file, limit

    def take(self, count: int) -> bytes:
        if count > self.left:
            raise ValueError("it ends in the middle of its header")
        data = self._file.read(count)
        if len(data) != count:
            raise ValueError("it ends in the middle of its header")
        self.left -= count
        return data

    def number(self, kind: str) -> Any:
        return struct.unpack(f"<{kind}", self.take(struct.calcsize(f"<{kind}")))[0]

    def count(self, smallest: int) -> int:
        """How many entries follow, each of at least `smallest` bytes."""
        found: int = self.number("Q")
        if found * smallest > self.left:
            raise ValueError(f"it claims {found:,} entries, more than it has bytes for")
        return found

    def string(self) -> str:
        return self.take(self.count(1)).decode("utf-8")

    def value(self, kind: int) -> Any:
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            return self.array()
        if kind not in SCALARS:
            raise ValueError(f"it has a value of the unknown type {kind}")
        return self.number(SCALARS[kind])

    def array(self) -> list[Any] | array[Any]:
        kind = self.number("I")
        if kind == STRING:
            return [self.string() for _ in range(self.count(8))]
        if kind not in SCALARS:
            raise ValueError(f"it has an array of the type {kind}")
        size = struct.calcsize(f"<{SCALARS[kind]}")
        count = self.count(size)
        data = self.take(count * size)
        if count > MOST_NUMBERS:
            return array(SCALARS[kind].replace("?", "B"), data)
        return list(struct.unpack(f"<{count}{SCALARS[kind]}", data))


def read_gguf(path: Path) -> GgufFile:
    """The header of a file. Raises UsageError for a file that cannot be what it says."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            reader = _Reader(file, min(size, LARGEST_HEADER))
            found = _read(path, reader)
            begin = file.tell()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): copy it again.") from error
    except ValueError as error:
        raise UsageError(f"{path} is not a whole GGUF file: {error}; copy it again.") from error
    alignment = found.metadata.get("general.alignment", USUAL_ALIGNMENT)
    if type(alignment) is not int or not 0 < alignment <= 1 << 16:
        raise UsageError(f"{path} has the alignment {alignment!r}: convert the model again.")
    begin += -begin % alignment
    tensors = {
        name: replace(one, start=begin + one.start, end=begin + one.end)
        for name, one in found.tensors.items()
    }
    end = max((one.end for one in tensors.values()), default=begin)
    if end > size:
        raise UsageError(
            f"{path} is truncated: its tensors need {end:,} bytes, it has {size:,}; copy it again."
        )
    return replace(found, tensors=tensors)


def _read(path: Path, reader: _Reader) -> GgufFile:
    """The file; where its tensors are is counted from the first one's first byte."""
    if reader.take(4) != MAGIC:
        raise ValueError("it does not begin with GGUF")
    version = reader.number("I")
    if version not in VERSIONS:
        raise ValueError(f"its version is {version}, versions 2 and 3 are read")
    tensors, pairs = reader.count(24), reader.count(13)
    metadata: dict[str, Any] = {}
    for _ in range(pairs):
        key = reader.string()
        metadata[key] = reader.value(reader.number("I"))
    found: dict[str, GgufTensor] = {}
    for _ in range(tensors):
        name, tensor = _tensor(reader)
        if name in found:
            raise ValueError(f"{name[:80]} is in it twice")
        found[name] = tensor
    return GgufFile(path, metadata, found)


def _tensor(reader: _Reader) -> tuple[str, GgufTensor]:
    name = reader.string()
    dimensions = reader.number("I")
    if dimensions > 4:
        raise ValueError(f"{name[:80]} has {dimensions} dimensions")
    shape = tuple(reader.number("Q") for _ in range(dimensions))
    kind, offset = reader.number("I"), reader.number("Q")
    if kind not in BLOCKS:
        raise ValueError(f"{name[:80]} has the unknown type {kind}")
    values, size = BLOCKS[kind]
    if shape and shape[0] % values:
        raise ValueError(f"the rows of {name[:80]} are no whole blocks")
    return name, GgufTensor(shape, kind, offset, offset + math.prod(shape) // values * size)

"""Headers of safetensors files, and values from them, without torch.

https://huggingface.co/docs/safetensors: 8 bytes of length, a JSON header, then the tensors' bytes
without gaps. Whatever a header says is checked before it is used.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from specviz.errors import UsageError

LARGEST_HEADER = 20_000_000
"""Bytes. An entry takes about 150, so that is a file of 130,000 tensors."""
MOST_DIMENSIONS = 8
VALUES_AT_ONCE = 1 << 22

BITS = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
    **{"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6},
}
WHOLE = {
    **{"BOOL": "u1", "U8": "u1", "I8": "i1", "U16": "<u2", "I16": "<i2"},
    **{"U32": "<u4", "I32": "<i4", "U64": "<u8", "I64": "<i8"},
}
EXPONENT = {"BF16": 0x7F80, "F16": 0x7C00}
"""The bits that are all set in an infinity or a NaN."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor as its file's header gives it; `start` and `end` are bytes from the file's
    beginning."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: Path
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.dtype} {list(self.shape)}"


def read_header(path: Path) -> dict[str, Tensor]:
    """The tensors of a file by name. Raises UsageError for a file that cannot be what it says."""
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            header, begin = _header(file.read(8), file.read, size)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): copy it again.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not a whole safetensors file: {error}; copy it again.") from (
            error
        )
    try:
        tensors = [_tensor(path, name, entry, begin) for name, entry in header.items()]
        _check_places(tensors, begin, size)
    except ValueError as error:
        raise UsageError(f"{path} has a wrong header: {error}; copy it again.") from error
    return {tensor.name: tensor for tensor in tensors}


def _header(length: bytes, read: Any, size: int) -> tuple[dict[str, Any], int]:
    """The entries and where the tensors' bytes begin."""
    if len(length) < 8:
        raise ValueError(f"it has {size} bytes")
    (count,) = struct.unpack("<Q", length)
    if count > min(size - 8, LARGEST_HEADER):
        raise ValueError(f"its header of {count:,} bytes does not fit into {size:,}")
    entries = json.loads(read(count).decode("utf-8"), object_pairs_hook=_without_repeats)
    if not isinstance(entries, dict):
        raise ValueError("its header is not an object")
    entries.pop("__metadata__", None)
    return entries, 8 + count


def _without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:80]!r} is in it twice")
    return found


def _tensor(path: Path, name: str, entry: Any, begin: int) -> Tensor:
    short = name[:80]
    if not isinstance(entry, dict):
        raise ValueError(f"{short} is not described by an object")
    dtype, shape, offsets = (
        entry.get("dtype"),
        _sizes(entry, "shape"),
        _sizes(entry, "data_offsets"),
    )
    if not isinstance(dtype, str) or dtype not in BITS:
        raise ValueError(f"{short} has the unknown dtype {str(dtype)[:20]!r}")
    if shape is None or len(shape) > MOST_DIMENSIONS:
        raise ValueError(f"{short} has no shape of whole numbers")
    if offsets is None or len(offsets) != 2:
        raise ValueError(f"{short} has no pair of offsets")
    bits = math.prod(shape) * BITS[dtype]
    if (offsets[1] - offsets[0]) * 8 != bits:
        raise ValueError(
            f"the offsets of {short} leave {offsets[1] - offsets[0]:,} bytes for {dtype} "
            f"{list(shape)}, which takes {bits / 8:,.0f}"
        )
    return Tensor(name, dtype, shape, path, begin + offsets[0], begin + offsets[1])


def _sizes(entry: Mapping[str, Any], key: str) -> tuple[int, ...] | None:
    """A list of whole numbers that a file can have: JSON also has true, 1.0 and 10^400."""
    found = entry.get(key)
    if isinstance(found, list) and all(type(one) is int and 0 <= one < 2**48 for one in found):
        return tuple(found)
    return None


def _check_places(tensors: Sequence[Tensor], begin: int, size: int) -> None:
    place = begin
    for tensor in sorted(tensors, key=lambda one: (one.start, one.end)):
        if tensor.start != place:
            kind = "overlaps another tensor" if tensor.start < place else "follows a gap"
            raise ValueError(f"{tensor.name[:80]} {kind}")
        place = tensor.end
    if place > size:
        raise ValueError(
            f"its tensors need {place:,} bytes, the file has {size:,}: it is truncated"
        )
    if place < size:
        raise ValueError(f"{size - place:,} bytes at its end belong to no tensor")


def read_bytes(tensor: Tensor) -> bytes:
    """All of a tensor's bytes, as they are stored. Raises UsageError where they are gone."""
    return read_part(tensor.file, tensor.start, tensor.end)


def read_part(path: Path, start: int, end: int) -> bytes:
    """A file's bytes from `start` up to `end`. Raises UsageError where they are gone."""
    with path.open("rb") as file:
        file.seek(start)
        data = file.read(end - start)
    if len(data) != end - start:
        raise UsageError(f"{path} became shorter while it was read: read it again.")
    return data


def read_whole_numbers(tensor: Tensor) -> npt.NDArray[np.int64] | None:
    """The values of an integer or boolean tensor, flat; None for one of another dtype."""
    if tensor.dtype not in WHOLE:
        return None
    return np.frombuffer(read_bytes(tensor), WHOLE[tensor.dtype]).astype(np.int64)


def is_finite(tensor: Tensor) -> bool:
    """Whether a tensor of floats has no NaN and no infinity; True for dtypes that are not read."""
    if tensor.dtype in EXPONENT:
        mask = EXPONENT[tensor.dtype]
        return not any(((part & mask) == mask).any() for part in _parts(tensor, "<u2"))
    if tensor.dtype in ("F32", "F64"):
        kind = "<f4" if tensor.dtype == "F32" else "<f8"
        return all(np.isfinite(part).all() for part in _parts(tensor, kind))
    return True


def _parts(tensor: Tensor, kind: str) -> Iterator[npt.NDArray[Any]]:
    """The values, some million at a time: a draft model may be larger than the memory."""
    step = np.dtype(kind).itemsize * VALUES_AT_ONCE
    with tensor.file.open("rb") as file:
        file.seek(tensor.start)
        for begin in range(tensor.start, tensor.end, step):
            yield np.frombuffer(file.read(min(step, tensor.end - begin)), kind)


def hold_the_same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors of one dtype and shape are equal bit for bit."""
    pairs = zip(_parts(one, "u1"), _parts(other, "u1"), strict=True)
    return all(np.array_equal(ours, theirs) for ours, theirs in pairs)

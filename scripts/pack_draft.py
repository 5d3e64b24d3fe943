"""Pack the folder of a trained draft into a file of data/drafts: 8 bits a weight, without what it
shares with its target.

    python scripts/pack_draft.py DRAFT TARGET data/drafts/smollm2-eagle3.gguf
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path

import gguf
import numpy as np
from numpy.typing import NDArray

from specviz.checkpoints.files.safetensors import Tensor, read_bytes, read_header

BITS = {"BF16": np.uint16, "I64": np.int64, "BOOL": np.int8}
MAP = "token_map"
"""The tensor that says which of the target's rows a draft has."""

Taken = dict[str, str | None]
"""The source of a tensor: the target's `tensor`, and the tensor that has the numbers of the
`rows`, None for all of them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("draft", "target", "out"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    pack(given.draft, given.target, given.out)


def pack(draft: Path, target: Path, out: Path) -> None:
    """Write the file of a draft."""
    tensors, own = (
        {name: values(one) for name, one in read_header(folder / "model.safetensors").items()}
        for folder in (draft, target)
    )
    taken = {name: found for name in tensors if (found := taken_from(name, tensors, own))}
    out.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(out, "specviz-draft")
    writer.add_string("specviz.config", (draft / "config.json").read_text(encoding="utf-8"))
    shapes = {name: list(one.shape) for name, one in own.items() if one.ndim == 2}
    writer.add_string("specviz.target", json.dumps(shapes))
    writer.add_string("specviz.taken", json.dumps(taken))
    writer.add_bool("specviz.tokenizer", (draft / "tokenizer.json").is_file())
    writer.add_string("specviz.made", datetime.now(UTC).isoformat(timespec="seconds"))
    for name, one in tensors.items():
        if name not in taken:
            add(writer, name, one)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def values(tensor: Tensor) -> NDArray[np.generic]:
    """As they are stored: the bits of bfloat16 as whole numbers."""
    return np.frombuffer(read_bytes(tensor), BITS[tensor.dtype]).reshape(tensor.shape)


def taken_from(
    name: str, tensors: dict[str, NDArray[np.generic]], own: dict[str, NDArray[np.generic]]
) -> Taken | None:
    """The tensor of the target that this one is, or whose rows it is."""
    rows = tensors.get(MAP)
    for theirs, other in own.items():
        if np.array_equal(tensors[name], other):
            return {"tensor": theirs, "rows": None}
        is_table = rows is not None and other.ndim == 2 and len(other) > int(rows.max())
        if is_table and np.array_equal(tensors[name], other[rows]):
            return {"tensor": theirs, "rows": MAP}
    return None


def add(writer: gguf.GGUFWriter, name: str, one: NDArray[np.generic]) -> None:
    """Matrices in 8 bits, norms in float32, numbers and marks as they are."""
    if one.dtype != np.uint16:
        writer.add_tensor(name, one)
        return
    wide = (one.astype(np.uint32) << 16).view(np.float32)
    is_matrix = one.ndim == 2 and one.shape[1] % 32 == 0
    kind = gguf.GGMLQuantizationType.Q8_0 if is_matrix else gguf.GGMLQuantizationType.F32
    writer.add_tensor(name, gguf.quantize(wide, kind), raw_dtype=kind)


if __name__ == "__main__":
    main()

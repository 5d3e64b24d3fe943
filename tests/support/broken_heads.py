"""Copies of the demo heads that a test breaks: edited configuration, edited or moved bytes."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.demo_models import DEMO_TARGET, MODELS

Entries = dict[str, tuple[dict[str, Any], bytes]]
"""A safetensors file: dtype and shape, and the bytes, by name."""

WEIGHTS = "model.safetensors"


def copied(name: str, folder: Path) -> Path:
    """A copy of a demo model; the tokenizer and the weights are links until they are written."""
    made = folder / name
    made.mkdir()
    for file in (MODELS / name).iterdir():
        if file.name == "config.json":
            shutil.copy(file, made / file.name)
        else:
            (made / file.name).symlink_to(file)
    return made


def write(path: Path, content: str | bytes) -> None:
    """Replace a file, or the link to the demo model's."""
    path.unlink(missing_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def edit_config(folder: Path, **changes: Any) -> None:
    """Set keys of config.json; None takes a key out."""
    path = folder / "config.json"
    config = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    write(path, json.dumps({key: value for key, value in config.items() if value is not None}))


def read_entries(path: Path) -> Entries:
    content = path.read_bytes()
    (count,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + count]), content[8 + count :]
    header.pop("__metadata__", None)
    return {
        name: (
            {"dtype": entry["dtype"], "shape": entry["shape"]},
            data[slice(*entry["data_offsets"])],
        )
        for name, entry in header.items()
    }


def packed(entries: Entries) -> bytes:
    header, data = {}, b""
    for name, (entry, content) in entries.items():
        header[name] = {**entry, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def edit_tensors(folder: Path, edit: Callable[[Entries], None]) -> None:
    entries = read_entries(folder / WEIGHTS)
    edit(entries)
    write(folder / WEIGHTS, packed(entries))


def edit_header(folder: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    """Change what the header says and leave the bytes as they are."""
    content = (folder / WEIGHTS).read_bytes()
    (count,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + count])
    edit(header)
    text = json.dumps(header).encode()
    write(folder / WEIGHTS, struct.pack("<Q", len(text)) + text + content[8 + count :])


def whole_numbers(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}q", *numbers)


def gguf(path: Path, *, tokens: list[str], arch: str = "llama", **sizes: Any) -> Path:
    """A GGUF file with one tensor of 32 floats and these tokens."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value.encode())) + value.encode()

    pairs = [text("general.architecture") + struct.pack("<I", 8) + text(arch)]
    listed = b"".join(map(text, tokens))
    pairs.append(text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, len(tokens)) + listed)
    for key, value in sizes.items():
        name = text(f"{arch}.{key}")
        if isinstance(value, list):
            numbers = struct.pack(f"<{len(value)}i", *value)
            pairs.append(name + struct.pack("<IIQ", 9, 5, len(value)) + numbers)
        else:
            pairs.append(name + struct.pack("<II", 4, value))
    tensor = text("output_norm.weight") + struct.pack("<IQIQ", 1, 32, 0, 0)
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(pairs)) + b"".join(pairs) + tensor
    path.write_bytes(head + b"\0" * (-len(head) % 32) + b"\0" * 128)
    return path


def target_tokens() -> list[str]:
    tokenizer = json.loads((DEMO_TARGET / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = {**tokenizer["model"]["vocab"]}
    vocabulary |= {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    return sorted(vocabulary, key=vocabulary.__getitem__)

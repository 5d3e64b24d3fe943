"""Whatever is in a file, reading it gives tensors inside of the file or one sentence."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specviz.checkpoints.check import check_pair
from specviz.checkpoints.files.gguf import read_gguf
from specviz.checkpoints.files.safetensors import BITS, read_header
from specviz.checkpoints.finding import Verdict
from specviz.errors import UsageError
from tests.support.broken_heads import copied, gguf, write
from tests.support.demo_models import DEMO_TARGET

SHORT = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
KEYS = (
    *("architectures", "model_type", "num_hidden_layers", "head_dim", "vocab_size", "hidden_size"),
    *("draft_vocab_size", "target_hidden_size", "eagle_aux_hidden_state_layer_ids", "fc_norm"),
    *("eagle_config", "transformer_layer_config", "speculators_config", "speculators_model_type"),
    *("text_config", "quantization_config", "dtype"),
)
ENTRY = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from([*BITS, "F99", 3]),
        "shape": st.lists(st.integers(-1, 4) | st.sampled_from([2**60, True, 1.0]), max_size=3),
        "data_offsets": st.lists(st.integers(-1, 40) | st.just(2**62), max_size=3),
    }
)
SMALL = {"a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}} | {
    "b": {"dtype": "BOOL", "shape": [3], "data_offsets": [16, 19]}
}


def file_of(header: Any, data: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def read_or_sentence(path: Path, content: bytes) -> None:
    """Reads, and checks that what is read is inside of the file."""
    path.write_bytes(content)
    try:
        tensors = read_header(path).values()
    except UsageError as error:
        assert str(error).endswith("copy it again.") and len(str(error)) < 600
        return
    for tensor in tensors:
        assert 0 <= tensor.start <= tensor.end <= len(content)
        assert math.prod(tensor.shape) * BITS[tensor.dtype] == (tensor.end - tensor.start) * 8


@SHORT
@given(st.data())
def test_changed_bytes(tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(file_of(SMALL, b"\0" * 19))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    length = data.draw(st.integers(0, len(content)))
    read_or_sentence(tmp_path / "one.safetensors", bytes(content[:length]))


@SHORT
@given(header=st.dictionaries(st.text(max_size=4), ENTRY | JSON, max_size=4) | JSON)
def test_any_header(tmp_path: Path, header: Any) -> None:
    read_or_sentence(tmp_path / "one.safetensors", file_of(header, b"\0" * 32))


@pytest.mark.parametrize(
    "content",
    [
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 50_000_000) + b"{}",
        struct.pack("<Q", 100_000) + b"[" * 100_000,
        struct.pack("<Q", 10_000) + b"9" * 10_000,
    ],
)
def test_a_header_that_would_take_memory(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "one.safetensors"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="not a whole safetensors file"):
        read_header(path)


@SHORT
@given(st.data())
def test_changed_bytes_of_a_gguf(tmp_path: Path, data: st.DataObject) -> None:
    path = gguf(tmp_path / "one.gguf", tokens=["a", "b", "é"], block_count=2)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        read_gguf(path)
    except UsageError as error:
        assert str(error).endswith("again.")


@SHORT
@given(
    key=st.sampled_from(KEYS),
    value=JSON
    | st.just(2**40)
    | st.lists(st.integers(-3, 12), max_size=4)
    | st.fixed_dictionaries({"eagle_aux_hidden_state_layer_ids": JSON}),
)
@pytest.mark.parametrize("name", ["demo-eagle3-speculators", "demo-eagle3"])
def test_any_value_in_a_configuration(
    tmp_path_factory: pytest.TempPathFactory, name: str, key: str, value: Any
) -> None:
    folder = copied(name, tmp_path_factory.mktemp("head"))
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    write(folder / "config.json", json.dumps({**config, key: value}))
    found = check_pair(folder, DEMO_TARGET, values=False)
    assert all(isinstance(one.verdict, Verdict) and one.sentence for one in found)

"""What a model folder tells, on the demo family and on folders made up here."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from specviz.analysis.advisor.draft import Load, Verdict, check_pair
from specviz.engines.model_folder import compare_tokenizers, read_model, read_pair
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET, MODELS

VOCABULARY = {"a": 0, "b": 1, "ab": 2, "<|end|>": 3}


def tokenizer(**changes: Any) -> dict[str, Any]:
    model = {"type": "BPE", "vocab": VOCABULARY, "merges": [["a", "b"]]}
    special = [{"content": "<|end|>", "id": 3}]
    base = {"added_tokens": special, "normalizer": None, "pre_tokenizer": None}
    return {**base, "model": {**model, **changes.pop("model", {})}, **changes}


def folder(path: Path, tokens: dict[str, Any] | str | None = None) -> Path:
    path.mkdir()
    if tokens is not None:
        text = tokens if isinstance(tokens, str) else json.dumps(tokens)
        (path / "tokenizer.json").write_text(text, encoding="utf-8")
    return path


def test_the_demo_family_is_one_family_of_one_tokenizer() -> None:
    pair = read_pair(str(DEMO_TARGET), str(DEMO_DRAFT))
    assert pair.tokenizers.same is True
    assert "byte-identical" in pair.tokenizers.finding
    assert (pair.target.parameters, pair.draft.parameters) == (14_162_304, 2_524_416)
    assert pair.target.weight_bytes == 2 * 14_162_304  # bfloat16
    assert pair.target.kv_bytes == 2 * 8 * 2 * 64 * 2  # K and V, layers, heads, size, bytes
    verdicts = {
        check.name: check.verdict for check in check_pair(pair, Load(2048, 8, 1.0), 0.8, None, None)
    }
    assert verdicts.pop("Size 1/50 to 1/10 of the target") is Verdict.FAIL  # it is 1/5.6
    assert set(verdicts.values()) == {Verdict.PASS}


def test_a_head_without_a_tokenizer_of_its_own_is_unknown() -> None:
    found = compare_tokenizers(DEMO_TARGET, MODELS / "demo-medusa")
    assert found.same is None
    assert "demo-medusa" in found.finding


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"model": {"vocab": {**VOCABULARY, "b": 2, "ab": 1}}}, "token 'ab': target id 2, draft"),
        ({"model": {"vocab": {**VOCABULARY, "c": 4}}}, "token 'c': target missing, draft id 4"),
        ({"model": {"merges": [["b", "a"]]}}, "merge 1 of 1 and 1 differs"),
        ({"model": {"merges": []}}, "merge 1 of 1 and 0 differs"),
        ({"model": {"type": "Unigram"}}, 'kind of tokenizer: target "BPE", draft "Unigram"'),
        ({"added_tokens": []}, "special token '<|end|>': target id 3, draft missing"),
        ({"normalizer": {"type": "NFC"}}, 'normaliser: target null, draft {"type": "NFC"}'),
    ],
)
def test_the_first_difference_is_named(
    tmp_path: Path, changes: dict[str, Any], difference: str
) -> None:
    target = folder(tmp_path / "target", tokenizer())
    draft = folder(tmp_path / "draft", tokenizer(**changes))
    found = compare_tokenizers(target, draft)
    assert found.same is False
    assert found.finding.startswith(difference)


def test_what_changes_no_id_is_the_same_tokenizer(tmp_path: Path) -> None:
    target = folder(tmp_path / "target", tokenizer())
    draft = folder(tmp_path / "draft", tokenizer(decoder={"type": "ByteLevel"}))
    found = compare_tokenizers(target, draft)
    assert found.same is True
    assert "differ elsewhere" in found.finding


@pytest.mark.parametrize("broken", ["{", "[]", '{"model": 3}'])
def test_a_broken_tokenizer_is_unknown(tmp_path: Path, broken: str) -> None:
    target = folder(tmp_path / "target", tokenizer())
    found = compare_tokenizers(target, folder(tmp_path / "draft", broken))
    assert found.same is None
    assert "cannot be read" in found.finding


def test_a_name_is_not_a_folder() -> None:
    found = read_model("org/model")
    assert found.parameters is None
    assert found.problem is not None and "org/model is not a folder" in found.problem


def write_weights(path: Path, header: object, size: int) -> None:
    data = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(data)) + data + b"\0" * size)


def test_parameters_are_summed_over_the_files(tmp_path: Path) -> None:
    config = {"model_type": "llama", "num_hidden_layers": 3, "num_attention_heads": 4,
              "num_key_value_heads": 2, "hidden_size": 32}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    one = {"dtype": "BF16", "shape": [3, 5], "data_offsets": [0, 30]}
    write_weights(tmp_path / "model-1.safetensors", {"__metadata__": {"a": "b"}, "w": one}, 30)
    two = {**one, "shape": [], "data_offsets": [0, 2]}
    write_weights(tmp_path / "model-2.safetensors", {"v": two}, 2)
    found = read_model(str(tmp_path))
    assert (found.parameters, found.weight_bytes) == (16, 32)
    assert found.kv_bytes == 2 * 3 * 2 * 8 * 2  # head size 32 / 4
    quantised = {**config, "quantization_config": {"bits": 4}}
    (tmp_path / "config.json").write_text(json.dumps(quantised))
    packed = read_model(str(tmp_path))
    assert (packed.parameters, packed.weight_bytes) == (None, 32)
    assert packed.problem is not None and "quantised" in packed.problem


@pytest.mark.parametrize("content", [b"", b"abc", b"\xff" * 16, struct.pack("<Q", 2) + b"[]"])
def test_weights_that_cannot_be_read_say_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(content)
    found = read_model(str(tmp_path))
    assert found.parameters is None
    assert found.problem is not None and "model.safetensors" in found.problem

"""A Hugging Face folder as GGUF: the same tensors and tokens, and a sentence for what cannot be."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGUFReader

from specviz.errors import UsageError
from specviz.paths import cache_folder
from specviz.servers.llama_cpp.conversion.cache import (
    gguf_of,
    write_default_models,
)
from specviz.servers.llama_cpp.conversion.gguf_file import _rope_factors, write_gguf
from specviz.servers.llama_cpp.conversion.weights import tensors
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the demo draft model."""
    return Path(shutil.copytree(DEMO_DRAFT, tmp_path / "model"))


def edited(folder: Path, name: str, edit: Callable[[dict[str, Any]], object]) -> Path:
    data = json.loads((folder / name).read_text())
    edit(data)
    (folder / name).write_text(json.dumps(data))
    return folder


def test_default_models_are_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    write_default_models()
    written = {file: file.stat().st_mtime_ns for file in cache_folder("gguf").iterdir()}
    write_default_models()
    assert {file: file.stat().st_mtime_ns for file in cache_folder("gguf").iterdir()} == written
    assert {gguf_of(model) for model in (DEMO_TARGET, DEMO_DRAFT)} == written.keys()


def test_every_value_is_there_and_none_is_rounded(folder: Path, tmp_path: Path) -> None:
    write_gguf(folder, tmp_path / "model.gguf")
    found = {tensor.name: tensor.data for tensor in GGUFReader(tmp_path / "model.gguf").tensors}
    given = {name: weights.float32() for name, weights in tensors(folder)}
    assert len(found) == len(given)
    assert all(values.dtype == np.float32 for values in found.values())
    for name, theirs in (("model.norm", "output_norm"), ("model.embed_tokens", "token_embd")):
        assert np.array_equal(found[f"{theirs}.weight"], given[f"{name}.weight"])
    config = json.loads((folder / "config.json").read_text())
    heads, size = config["num_attention_heads"], config["head_dim"]
    turned = found["blk.0.attn_q.weight"].reshape(heads, size, -1)
    halves = given["model.layers.0.self_attn.q_proj.weight"].reshape(heads, size, -1)
    assert np.array_equal(turned[:, ::2], halves[:, : size // 2])
    assert np.array_equal(turned[:, 1::2], halves[:, size // 2 :])


def test_the_tokenizer_goes_along(folder: Path, tmp_path: Path) -> None:
    write_gguf(folder, tmp_path / "model.gguf")
    fields = GGUFReader(tmp_path / "model.gguf").fields
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokens = fields["tokenizer.ggml.tokens"].contents()
    assert [tokens[i] for i in (0, 1, 2, 3)] == [t["content"] for t in tokenizer["added_tokens"]]
    assert all(tokens[i] == token for token, i in tokenizer["model"]["vocab"].items())
    assert fields["tokenizer.ggml.pre"].contents() == "smollm"
    assert fields["tokenizer.chat_template"].contents().startswith("{%-")


def _is(name: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda data: data.update({name: value})


@pytest.mark.parametrize(
    ("file", "edit", "reason"),
    [
        ("config.json", _is("architectures", ["Qwen3ForCausalLM"]), "has Qwen3ForCausalLM"),
        ("config.json", _is("architectures", None), "has no architecture"),
        ("config.json", _is("attention_bias", True), "has attention_bias"),
        ("config.json", _is("quantization_config", {"bits": 4}), "has quantization_config"),
        ("config.json", _is("rope_parameters", {"rope_type": "yarn"}), "has rope type yarn"),
        ("config.json", _is("vocab_size", 100), "more tokens than the model's 100 embeddings"),
        ("tokenizer.json", _is("normalizer", {"type": "NFC"}), "not byte-level BPE"),
        ("tokenizer.json", _is("model", {"type": "Unigram"}), "not byte-level BPE"),
        ("tokenizer.json", lambda data: data.pop("model"), "not a complete tokenizer"),
    ],
)
def test_another_model_is_refused_by_name(
    folder: Path, tmp_path: Path, file: str, edit: Callable[[dict[str, Any]], object], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        write_gguf(edited(folder, file, edit), tmp_path / "model.gguf")
    assert not list(tmp_path.glob("*.gguf*")), "nothing is left in part"


@pytest.mark.parametrize("size", [4, 100, -1])
def test_weights_that_are_not_whole_are_refused(folder: Path, tmp_path: Path, size: int) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:size])
    with pytest.raises(UsageError, match=r"model\.safetensors cannot be read .*copy it again"):
        write_gguf(folder, tmp_path / "model.gguf")
    assert not list(tmp_path.glob("*.gguf*"))


def test_a_file_that_cannot_be_written_says_so(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(UsageError, match=r"cannot be written .*choose another place"):
        write_gguf(folder, tmp_path / "taken" / "model.gguf")


def test_the_cache_writes_again_what_has_changed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first = gguf_of(folder)
    written = first.stat().st_mtime_ns
    assert first.parent == cache_folder("gguf")
    assert gguf_of(folder) == first and first.stat().st_mtime_ns == written
    assert gguf_of(first) == first, "a file is taken as it is"
    edited(folder, "config.json", _is("rms_norm_eps", 1e-5))
    assert gguf_of(folder) != first


def test_llama_3s_scaling_is_that_of_transformers() -> None:
    torch = pytest.importorskip("torch")
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    rope = {
        "rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
    }  # fmt: skip
    config = LlamaConfig(hidden_size=512, num_attention_heads=8, rope_parameters=rope)
    scaled, _ = ROPE_INIT_FUNCTIONS["llama3"](config, torch.device("cpu"))
    plain = 1.0 / 500000.0 ** (torch.arange(0, 64, 2) / 64)
    factors = _rope_factors({**config.to_dict(), "rope_parameters": rope})
    assert factors == pytest.approx((plain / scaled).tolist(), rel=1e-5)

"""Exported heads: names and shapes as vLLM reads them, and the same proposals when read again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from specviz.training.heads.export import (
    LAYERS_KEY,
    export_eagle,
    export_eagle3,
    export_medusa,
    export_speculators,
)
from specviz.training.heads.heads import Eagle, Eagle3, Medusa
from specviz.training.heads.lesson import prepare
from specviz.training.heads.load import load_head
from tests.support.training.head_samples import (
    HIDDEN,
    KNOWN,
    LAYERS,
    NAMES,
    VOCABULARY,
    documents,
    tiny_config,
    tiny_head,
    tiny_target,
)

MLP = {"mlp.gate_proj": [24, 16], "mlp.up_proj": [24, 16], "mlp.down_proj": [16, 24]}


def _export(name: str, folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    head = tiny_head(name.removesuffix("-speculators"), tiny_target())
    if isinstance(head, Medusa):
        export_medusa(head, folder)
    elif isinstance(head, Eagle):
        export_eagle(head, tiny_config(1), folder)
    else:
        assert isinstance(head, Eagle3)
        if name == "eagle3":
            export_eagle3(head, tiny_config(1), folder)
        else:
            export_speculators(head, tiny_config(1), "some-target", folder)
    config = json.loads((folder / "config.json").read_text())
    return config, load_file(folder / "model.safetensors")


def _shapes(tensors: dict[str, Tensor]) -> dict[str, list[int]]:
    return {name: list(tensor.shape) for name, tensor in tensors.items()}


def _layer(prefix: str, width: int) -> dict[str, list[int]]:
    attention = {"q_proj": [16, width], "k_proj": [8, width], "v_proj": [8, width]}
    attention["o_proj"] = [16, 16]
    matrices = {f"self_attn.{name}": shape for name, shape in attention.items()} | MLP
    norms = {"post_attention_layernorm": [16]}
    return {f"{prefix}.{name}.weight": shape for name, shape in (matrices | norms).items()}


def test_medusa_folder(tmp_path: Path) -> None:
    config, tensors = _export("medusa", tmp_path / "head")
    expected = {f"blocks.{k}.layers.0.weight": [HIDDEN, HIDDEN] for k in range(5)}
    expected |= {f"lm_heads.{k}.weight": [VOCABULARY, HIDDEN] for k in range(5)}
    assert _shapes(tensors) == expected
    assert {tensor.dtype for tensor in tensors.values()} == {torch.bfloat16}
    assert (config["model_type"], config["num_heads"], config["num_hidden_layers"]) == (
        "medusa", 5, 1,
    )  # fmt: skip
    # vLLM would take any other key with "num" and "heads" for the number of Medusa heads.
    assert [key for key in config if "num" in key and "heads" in key] == ["num_heads"]


def test_eagle_folder(tmp_path: Path) -> None:
    config, tensors = _export("eagle", tmp_path / "head")
    expected = {"fc.weight": [HIDDEN, 2 * HIDDEN]} | _layer("layers.0", HIDDEN)
    assert _shapes(tensors) == expected
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert config["num_hidden_layers"] == 1


def _eagle3_shapes(prefix: str) -> dict[str, list[int]]:
    norms = {f"{prefix}.{name}.weight": [HIDDEN] for name in ("input_layernorm", "hidden_norm")}
    own = {"fc.weight": [HIDDEN, 3 * HIDDEN], "norm.weight": [HIDDEN]}
    vocabulary = {"lm_head.weight": [len(KNOWN), HIDDEN], "d2t": [len(KNOWN)], "t2d": [VOCABULARY]}
    return own | vocabulary | norms | _layer(prefix, 2 * HIDDEN)


def test_eagle3_folder(tmp_path: Path) -> None:
    config, tensors = _export("eagle3", tmp_path / "head")
    assert _shapes(tensors) == _eagle3_shapes("midlayer")
    assert config["architectures"] == ["LlamaForCausalLMEagle3"]
    assert config[LAYERS_KEY] == [0, 1, LAYERS]
    assert config["draft_vocab_size"] == len(KNOWN)
    ids = tensors["d2t"] + torch.arange(len(KNOWN))
    assert ids.tolist() == KNOWN
    assert tensors["t2d"].nonzero().flatten().tolist() == KNOWN


def test_speculators_folder(tmp_path: Path) -> None:
    config, tensors = _export("eagle3-speculators", tmp_path / "head")
    embeddings = {"embed_tokens.weight": [VOCABULARY, HIDDEN]}
    assert _shapes(tensors) == _eagle3_shapes("layers.0") | embeddings
    assert config["speculators_model_type"] == "eagle3"
    assert config["speculators_config"]["verifier"]["name_or_path"] == "some-target"
    # This format's default is the other way round.
    assert config["norm_before_residual"] is False


@pytest.mark.parametrize("name", NAMES)
def test_head_read_again_proposes_the_same(name: str, tmp_path: Path) -> None:
    """As float32, so that only the rounding of the weights differs."""
    target = tiny_target()
    _export(name, tmp_path / "head")
    loaded = load_head(tmp_path / "head", target)
    original = tiny_head(name, target)
    rounded = {n: p.to(torch.bfloat16).float() for n, p in original.state_dict().items()}
    original.load_state_dict(rounded)
    assert loaded.tap_layers == original.tap_layers
    lesson = prepare(target, documents(), loaded.tap_layers)
    with torch.no_grad():
        for ours, theirs in zip(loaded.logits(lesson, 4), original.logits(lesson, 4), strict=True):
            assert (ours - theirs).abs().max() < 0.03 * theirs.abs().max()


def test_folder_is_replaced_whole(tmp_path: Path) -> None:
    folder = tmp_path / "head"
    _export("eagle", folder)
    (folder / "left-over").write_text("")
    _export("medusa", folder)
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.safetensors"]
    assert [path.name for path in tmp_path.iterdir()] == ["head"]

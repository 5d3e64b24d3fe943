"""Heads as folders that vLLM can load: config.json and bf16 model.safetensors.

Names and shapes as read by vLLM 0.32's `medusa.py`, `llama_eagle.py` and `llama_eagle3.py`, and by
its reader of the speculators format (`transformers_utils/configs/speculators`).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import LlamaConfig

from specviz.training.heads.heads import MEDUSA_HEADS, Eagle, Eagle3, FeatureHead, Medusa

LAYERS_KEY = "eagle_aux_hidden_state_layer_ids"
# K of a server that is given only the speculators folder.
SPECULATORS_K = 5


def export_medusa(head: Medusa, folder: Path) -> None:
    """Write `head` to `folder`."""
    named = dict(head.state_dict())
    vocabulary, hidden = named["lm_heads.0.weight"].shape
    config = {
        "architectures": ["MedusaModel"],
        "model_type": "medusa",
        "dtype": "bfloat16",
        "hidden_size": hidden,
        "vocab_size": vocabulary,
        "truncated_vocab_size": vocabulary,
        "num_heads": MEDUSA_HEADS,
        "num_hidden_layers": 1,
        "medusa_fc_bias": False,
    }
    write_folder(folder, config, named)


def export_eagle(head: Eagle, config: LlamaConfig, folder: Path) -> None:
    """Write `head` to `folder`; embeddings and vocabulary matrix stay the target's."""
    write_folder(folder, layer_config(config, ["LlamaForCausalLM"]), tensors(head))


def export_eagle3(head: Eagle3, config: LlamaConfig, folder: Path) -> None:
    """Write `head` to `folder` in the format of EAGLE-3's authors."""
    written = layer_config(config, ["LlamaForCausalLMEagle3"]) | eagle3_keys(head, config)
    write_folder(folder, written, tensors(head) | vocabulary_maps(head, config))


def export_speculators(head: Eagle3, config: LlamaConfig, verifier: str, folder: Path) -> None:
    """Write `head` to `folder` in the speculators format; `verifier` names the target."""
    method = {"proposal_type": "greedy", "speculative_tokens": SPECULATORS_K}
    written = {
        "architectures": ["Eagle3Speculator"],
        "speculators_model_type": "eagle3",
        "speculators_config": {
            "algorithm": "eagle3",
            "default_proposal_method": "greedy",
            "proposal_methods": [method],
            "verifier": {"name_or_path": verifier, "architectures": ["LlamaForCausalLM"]},
        },
        "transformer_layer_config": layer_config(config, ["LlamaForCausalLM"]),
        **eagle3_keys(head, config),
    }
    renamed = {
        name.replace("midlayer.", "layers.0."): tensor for name, tensor in tensors(head).items()
    }
    embeddings = {"embed_tokens.weight": head.frozen[0]}
    write_folder(folder, written, renamed | embeddings | vocabulary_maps(head, config))


def layer_config(config: LlamaConfig, architectures: list[str]) -> dict[str, Any]:
    """The Llama keys of a one-layer head."""
    keys: dict[str, Any] = config.to_diff_dict()
    return keys | {
        "architectures": architectures,
        "model_type": "llama",
        "dtype": "bfloat16",
        "num_hidden_layers": 1,
    }


def eagle3_keys(head: Eagle3, config: LlamaConfig) -> dict[str, Any]:
    """The keys that EAGLE-3 adds."""
    return {
        "draft_vocab_size": len(head.target_ids),
        "target_hidden_size": config.hidden_size,
        "norm_before_residual": False,
        "tie_word_embeddings": False,
        LAYERS_KEY: list(head.tap_layers),
    }


def tensors(head: FeatureHead) -> dict[str, Tensor]:
    """The checkpoint's tensors, with the scales of the fusion multiplied in."""
    named = {name: tensor for name, tensor in head.state_dict().items() if "fc." not in name}
    return named | {"fc.weight": head.fc.weight}


def vocabulary_maps(head: Eagle3, config: LlamaConfig) -> dict[str, Tensor]:
    """`d2t`: target id minus draft id; `t2d`: which target tokens the draft knows."""
    ids = head.target_ids
    known = torch.zeros(config.vocab_size, dtype=torch.bool)
    known[ids] = True
    return {"d2t": ids - torch.arange(len(ids)), "t2d": known}


def write_folder(folder: Path, config: dict[str, Any], named: dict[str, Tensor]) -> None:
    """Replace `folder` in one rename, so that a reader never sees a partial head."""
    fresh, old = folder.with_name(f".{folder.name}.new"), folder.with_name(f".{folder.name}.old")
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh.mkdir(parents=True)
    half = {
        name: (t.to(torch.bfloat16) if t.is_floating_point() else t).detach().cpu().contiguous()
        for name, t in named.items()
    }
    save_file(half, fresh / "model.safetensors", metadata={"format": "pt"})
    (fresh / "model.safetensors").chmod(0o644)
    write_config(fresh, config)
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def write_config(folder: Path, config: dict[str, Any]) -> None:
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")

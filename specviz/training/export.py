"""Drafts as folders in the formats that engines read: config.json and bf16 model.safetensors.

Names and shapes as read by vLLM 0.32's `medusa.py`, `llama_eagle.py` and `llama_eagle3.py`, and by
its reader of the Speculators format (`transformers_utils/configs/speculators`).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from specviz.checkpoints.aux_layers import LAYERS_KEY
from specviz.checkpoints.files.written import copy_tokenizer
from specviz.methods import Method
from specviz.training.draft import Draft
from specviz.training.frozen import Frozen
from specviz.training.heads import MEDUSA_HEADS, Eagle, Eagle3, FeatureHead, Head, Medusa

SPECULATORS_K = 5
"""K of a server that is given only the Speculators folder."""


def folders_of(method: Method, folder: Path) -> tuple[Path, ...]:
    """The folders of a draft that is exported to `folder`: EAGLE-3 also has one in Speculators'
    format beside it."""
    beside = folder.with_name(f"{folder.name}-speculators")
    return (folder, beside) if method is Method.EAGLE3 else (folder,)


def export(head: Head, target: Frozen, source: Path, folder: Path) -> None:
    """Write `head` for the target in `source` to its folders."""
    if isinstance(head, Eagle3):
        own, beside = folders_of(Method.EAGLE3, folder)
        _export_eagle3(head, target, own)
        _export_speculators(head, target, str(source), beside)
    elif isinstance(head, Eagle):
        _write(folder, _layer_config(target, ["LlamaForCausalLM"]), _tensors(head))
    elif isinstance(head, Medusa):
        _export_medusa(head, target, folder)
    else:
        assert isinstance(head, Draft)
        _write(folder, head.config, head.tensors())
        copy_tokenizer(source, folder)


def _export_medusa(head: Medusa, target: Frozen, folder: Path) -> None:
    """One vocabulary matrix for all heads, with the rows of the target's that they draft."""
    config = {
        "architectures": ["MedusaModel"],
        "model_type": "medusa",
        "dtype": "bfloat16",
        "hidden_size": target.config.hidden,
        "vocab_size": target.config.vocabulary,
        "truncated_vocab_size": len(head.target_ids),
        "num_heads": MEDUSA_HEADS,
        "num_hidden_layers": 1,
        "medusa_fc_bias": False,
        "original_lm_head": True,
    }
    named = dict(head.state_dict()) | {"lm_head.weight": head.frozen[0]}
    if len(head.target_ids) < target.config.vocabulary:
        named["token_map"] = head.target_ids
    _write(folder, config, named)


def _export_eagle3(head: Eagle3, target: Frozen, folder: Path) -> None:
    """The format of EAGLE-3's authors and of SpecForge."""
    config = _layer_config(target, ["LlamaForCausalLMEagle3"]) | _eagle3_keys(head, target)
    _write(folder, config, _tensors(head) | _vocabulary_maps(head, target))


def _export_speculators(head: Eagle3, target: Frozen, verifier: str, folder: Path) -> None:
    method = {"proposal_type": "greedy", "speculative_tokens": SPECULATORS_K}
    config = {
        "architectures": ["Eagle3Speculator"],
        "speculators_model_type": "eagle3",
        "speculators_config": {
            "algorithm": "eagle3",
            "default_proposal_method": "greedy",
            "proposal_methods": [method],
            "verifier": {"name_or_path": verifier, "architectures": [target.architecture]},
        },
        "transformer_layer_config": _layer_config(target, ["LlamaForCausalLM"]),
        **_eagle3_keys(head, target),
    }
    renamed = {
        name.replace("midlayer.", "layers.0."): tensor for name, tensor in _tensors(head).items()
    }
    embeddings = {"embed_tokens.weight": target.embeddings}
    _write(folder, config, renamed | embeddings | _vocabulary_maps(head, target))


def _layer_config(target: Frozen, architectures: list[str]) -> dict[str, Any]:
    """The keys of a head of one layer, in Llama's form whatever the target's is."""
    return target.keys | {
        "architectures": architectures,
        "model_type": "llama",
        "dtype": "bfloat16",
        "head_dim": target.config.head_dim,
        "num_hidden_layers": 1,
        "attention_bias": False,
        "mlp_bias": False,
    }


def _eagle3_keys(head: Eagle3, target: Frozen) -> dict[str, Any]:
    return {
        "draft_vocab_size": len(head.target_ids),
        "target_hidden_size": target.config.hidden,
        "norm_before_residual": False,
        "tie_word_embeddings": False,
        LAYERS_KEY: list(head.tap_layers),
    }


def _tensors(head: FeatureHead) -> dict[str, Tensor]:
    """The checkpoint's tensors, with the scales of the fusion multiplied in."""
    named = {name: tensor for name, tensor in head.state_dict().items() if "fc." not in name}
    return named | {"fc.weight": head.fc.weight}


def _vocabulary_maps(head: Eagle3, target: Frozen) -> dict[str, Tensor]:
    """`d2t`: target id minus draft id; `t2d`: which target tokens the draft knows."""
    ids = head.target_ids
    known = torch.zeros(target.config.vocabulary, dtype=torch.bool, device=ids.device)
    known[ids] = True
    return {"d2t": ids - torch.arange(len(ids), device=ids.device), "t2d": known}


def _write(folder: Path, config: dict[str, Any], named: dict[str, Tensor]) -> None:
    """Replace `folder` in one rename, so that a reader never sees a partial draft."""
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
    text = json.dumps(config, indent=2) + "\n"
    (fresh / "config.json").write_text(text, encoding="utf-8")
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)

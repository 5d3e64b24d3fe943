"""An exported head loaded as a module, so that measurements are of the exported weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import LlamaConfig, LlamaForCausalLM

from specviz.training.heads.export import LAYERS_KEY
from specviz.training.heads.heads import Eagle, Eagle3, Medusa


def load_head(folder: Path, target: LlamaForCausalLM) -> Medusa | Eagle | Eagle3:
    """The head in `folder`, in the target's dtype and on its device, ready for inference."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tensors = load_file(folder / "model.safetensors")
    if "fc.weight" in tensors:
        tensors["fc.matrix.weight"] = tensors.pop("fc.weight")
    head = _empty(config, tensors, target)
    tensors.pop("d2t", None), tensors.pop("t2d", None)
    missing, unexpected = head.load_state_dict(tensors, strict=False)
    # The exported fusion includes the scales.
    assert not unexpected and set(missing) <= {"fc.scales"}, (missing, unexpected)
    head.to(dtype=target.dtype, device=target.device).eval().requires_grad_(False)
    return head


def _empty(
    config: dict[str, Any], tensors: dict[str, torch.Tensor], target: LlamaForCausalLM
) -> Medusa | Eagle | Eagle3:
    if config["model_type"] == "medusa":
        return Medusa(target)
    llama = LlamaConfig.from_dict(config)
    if LAYERS_KEY in config:
        ids = tensors["d2t"] + torch.arange(len(tensors["d2t"]))
        head: Eagle | Eagle3 = Eagle3(target, llama, dict.fromkeys(config[LAYERS_KEY], 1.0), ids)
    else:
        head = Eagle(target, llama)
    head.fc.scales.fill_(1.0)
    return head

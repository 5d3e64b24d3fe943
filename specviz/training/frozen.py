"""The part of the target that heads take and do not train: sizes, embeddings, vocabulary matrix."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from specviz.checkpoints.config import flat_head
from specviz.engines.embedded.checkpoint import ModelConfig, load_weights, read_config, read_json

KEPT_KEYS = (
    *("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads"),
    *("head_dim", "hidden_act", "rms_norm_eps", "rope_parameters", "rope_scaling", "rope_theta"),
    *("max_position_embeddings", "vocab_size", "bos_token_id", "eos_token_id", "pad_token_id"),
)
"""Keys of the target's config.json for a head's, whose layer has its sizes in Llama's form."""

TABLES = ("model.embed_tokens.weight", "lm_head.weight", "model.norm.weight")


@dataclass(frozen=True, slots=True)
class Frozen:
    """`embeddings` and `matrix` are [vocabulary, H], `norm` [H] is the last one, float32.

    `keys`: the target's own, of config.json. `architecture`: the class that it names.
    """

    config: ModelConfig
    keys: dict[str, Any]
    architecture: str
    embeddings: Tensor
    matrix: Tensor
    norm: Tensor

    @property
    def mlp(self) -> int:
        """The width of an MLP."""
        return int(self.keys["intermediate_size"])


def load_frozen(folder: Path, device: torch.device) -> Frozen:
    """Load that of the target in `folder`. Raises UsageError for weights that cannot be read."""
    config = read_config(folder)
    raw = flat_head(read_json(folder, "config.json"))
    weights = load_weights(folder, torch.float32, device, lambda name: name in TABLES)
    embeddings = weights["model.embed_tokens.weight"]
    return Frozen(
        config=config,
        keys={key: raw[key] for key in KEPT_KEYS if key in raw},
        architecture=next(iter(raw.get("architectures") or ()), "LlamaForCausalLM"),
        embeddings=embeddings,
        matrix=embeddings if config.tied else weights["lm_head.weight"],
        norm=weights["model.norm.weight"],
    )

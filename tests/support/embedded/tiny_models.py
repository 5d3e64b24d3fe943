"""Random checkpoints of a few thousand weights, saved in the formats that the engine reads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from specviz.engines.embedded.model import Llama, load_model

CPU = torch.device("cpu")

LLAMA3_ROPE = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
YARN_ROPE = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 64,
}

KINDS: dict[str, dict[str, Any]] = {
    "llama": {},
    "llama untied": {"tie_word_embeddings": False},
    "llama3 rope": {"rope_parameters": LLAMA3_ROPE},
    "yarn rope": {"rope_parameters": YARN_ROPE},
    "llama with biases": {"attention_bias": True},
    "qwen2": {},
    "qwen3": {"tie_word_embeddings": False},
}
CLASSES = {"qwen2": (Qwen2Config, Qwen2ForCausalLM), "qwen3": (Qwen3Config, Qwen3ForCausalLM)}


def tiny_model(
    kind: str = "llama", *, seed: int = 0, sharpness: float = 1.0, **changes: Any
) -> PreTrainedModel:
    """A transformers model with weights so large that its predictions differ from each other.

    `sharpness` is a factor on its logits.
    """
    config_class, model_class = CLASSES.get(kind, (LlamaConfig, LlamaForCausalLM))
    settings = {
        "vocab_size": 48,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 1024,
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": 1,
        "pad_token_id": 0,
    }
    torch.manual_seed(seed)
    model = model_class(config_class(**(settings | KINDS[kind] | changes)))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            is_norm = name.endswith("norm.weight")
            weight.normal_(mean=1.0 if is_norm else 0.0, std=0.3 if is_norm else 0.25)
        model.model.norm.weight.mul_(sharpness)
    return model.eval()


def save_tiny(folder: Path, kind: str = "llama", **settings: Any) -> Path:
    """The checkpoint of a `tiny_model`."""
    tiny_model(kind, **settings).save_pretrained(folder)
    return folder


def load_tiny(folder: Path, dtype: torch.dtype = torch.float32) -> Llama:
    return load_model(folder, dtype, CPU)


def _random(*shape: int, std: float = 0.4) -> Tensor:
    return torch.randn(shape) * std


def _save(folder: Path, config: dict[str, Any], weights: dict[str, Tensor]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(weights, folder / "model.safetensors")
    return folder


def save_medusa(folder: Path, target: Llama, *, heads: int = 4, seed: int = 0) -> Path:
    """Medusa heads as vLLM serves them."""
    torch.manual_seed(seed)
    hidden, vocabulary = target.config.hidden, target.config.vocabulary
    weights = {}
    for k in range(heads):
        weights[f"blocks.{k}.layers.0.weight"] = _random(hidden, hidden)
        weights[f"blocks.{k}.layers.0.bias"] = _random(hidden)
        weights[f"lm_heads.{k}.weight"] = _random(vocabulary, hidden)
    config = {
        "architectures": ["MedusaModel"],
        "model_type": "medusa",
        "hidden_size": hidden,
        "vocab_size": vocabulary,
        "num_heads": heads,
        "num_hidden_layers": 1,
    }
    return _save(folder, config, weights)


def _layer_weights(prefix: str, target: Llama, inputs: int) -> dict[str, Tensor]:
    config = target.config
    q, kv, mlp = config.heads * config.head_dim, config.kv_heads * config.head_dim, 48
    shapes = {
        "self_attn.q_proj": (q, inputs),
        "self_attn.k_proj": (kv, inputs),
        "self_attn.v_proj": (kv, inputs),
        "self_attn.o_proj": (config.hidden, q),
        "mlp.gate_proj": (mlp, config.hidden),
        "mlp.up_proj": (mlp, config.hidden),
        "mlp.down_proj": (config.hidden, mlp),
    }
    weights = {f"{prefix}.{name}.weight": _random(*shape) for name, shape in shapes.items()}
    weights[f"{prefix}.post_attention_layernorm.weight"] = 1 + _random(config.hidden)
    return weights


def _head_config(target: Llama, **more: Any) -> dict[str, Any]:
    config = target.config
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": config.hidden,
        "intermediate_size": 48,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "head_dim": config.head_dim,
        "num_hidden_layers": 1,
        "vocab_size": config.vocabulary,
        "max_position_embeddings": config.max_positions,
        "rms_norm_eps": config.norm_eps,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
        "eos_token_id": 1,
        **more,
    }


def save_eagle(folder: Path, target: Llama, *, seed: int = 0) -> Path:
    """An EAGLE head as vLLM serves it."""
    torch.manual_seed(seed)
    hidden = target.config.hidden
    weights = {"fc.weight": _random(hidden, 2 * hidden)}
    weights |= _layer_weights("layers.0", target, hidden)
    return _save(folder, _head_config(target, architectures=["EagleLlamaForCausalLM"]), weights)


def save_eagle3(folder: Path, target: Llama, *, drafts: int | None = None, seed: int = 0) -> Path:
    """An EAGLE-3 head as vLLM serves it, over the last `drafts` tokens of the vocabulary."""
    torch.manual_seed(seed)
    hidden, vocabulary = target.config.hidden, target.config.vocabulary
    drafts = drafts or vocabulary
    taps = sorted({0, target.config.layers // 2, target.config.layers})
    weights = {
        "fc.weight": _random(hidden, len(taps) * hidden),
        "norm.weight": 1 + _random(hidden),
        "lm_head.weight": _random(drafts, hidden),
        "d2t": torch.full((drafts,), vocabulary - drafts),
        "midlayer.input_layernorm.weight": 1 + _random(hidden),
        "midlayer.hidden_norm.weight": 1 + _random(hidden),
    }
    weights |= _layer_weights("midlayer", target, 2 * hidden)
    config = _head_config(
        target,
        architectures=["Eagle3LlamaForCausalLM"],
        draft_vocab_size=drafts,
        eagle_aux_hidden_state_layer_ids=taps,
    )
    return _save(folder, config, weights)

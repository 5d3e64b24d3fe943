"""Checkpoints in the Hugging Face format: configuration, weights, tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from specviz.checkpoints.config import MODEL_TYPES, flat_head
from specviz.errors import UsageError

DEFAULT_ROPE_THETA = 10_000.0
"""Of a configuration that names none, for each of these types (transformers: `default_theta`)."""


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The architecture of a decoder in Llama's form.

    `inverse_frequencies` [head_dim / 2] and `rope_scale` belong to the rotary embedding. `biased`:
    q, k and v have a bias (Qwen2). `normed`: every head of q and k goes through an RMSNorm (Qwen3).
    """

    model_type: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    norm_eps: float
    max_positions: int
    eos_ids: frozenset[int]
    inverse_frequencies: Tensor
    rope_scale: float = 1.0
    biased: bool = False
    normed: bool = False
    tied: bool = False


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """A JSON file of a checkpoint. Raises UsageError where it is missing or not JSON."""
    try:
        data: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{folder} is not a model folder ({name}: {error}): name a folder with config.json, "
            "*.safetensors and tokenizer.json."
        ) from error
    return data


def read_config(folder: Path) -> ModelConfig:
    """The architecture in `folder`/config.json. Raises UsageError for an unsupported one."""
    raw = flat_head(read_json(folder, "config.json"))
    model_type = str(raw.get("model_type"))
    if model_type not in MODEL_TYPES:
        raise UsageError(
            f"The embedded engine runs {', '.join(MODEL_TYPES)}, not {model_type}: choose a model "
            f"other than {folder}, or a vLLM server."
        )
    _refuse_unsupported(folder, raw)
    try:
        return _config(folder, model_type, raw)
    except KeyError as error:
        raise UsageError(
            f"{folder / 'config.json'} has no {error}: restore the model's own file."
        ) from error


def _refuse_unsupported(folder: Path, raw: Mapping[str, Any]) -> None:
    if raw.get("use_sliding_window"):
        raise UsageError(f"{folder} uses a sliding window, which only a vLLM server can run.")
    if raw.get("hidden_act", "silu") != "silu":
        raise UsageError(
            f"{folder} has the activation {raw['hidden_act']}, the embedded engine runs silu only: "
            "use a vLLM server."
        )
    if raw.get("quantization_config"):
        raise UsageError(f"{folder} is quantised: use its original weights, or a vLLM server.")


def _config(folder: Path, model_type: str, raw: dict[str, Any]) -> ModelConfig:
    heads = int(raw["num_attention_heads"])
    head_dim = int(raw.get("head_dim") or raw["hidden_size"] // heads)
    frequencies, scale = _rope(raw, head_dim)
    return ModelConfig(
        model_type=model_type,
        layers=int(raw["num_hidden_layers"]),
        hidden=int(raw["hidden_size"]),
        heads=heads,
        kv_heads=int(raw.get("num_key_value_heads") or heads),
        head_dim=head_dim,
        vocabulary=int(raw["vocab_size"]),
        norm_eps=float(raw["rms_norm_eps"]),
        max_positions=int(raw["max_position_embeddings"]),
        eos_ids=_eos_ids(folder, raw),
        inverse_frequencies=frequencies,
        rope_scale=scale,
        biased=model_type == "qwen2" or bool(raw.get("attention_bias")),
        normed=model_type == "qwen3",
        tied=bool(raw.get("tie_word_embeddings")),
    )


def load_weights(
    folder: Path,
    dtype: torch.dtype,
    device: torch.device,
    wanted: Callable[[str], bool] = lambda name: True,
) -> dict[str, Tensor]:
    """The tensors of the checkpoint whose names are `wanted`, floats as `dtype`; no other is read.

    Raises UsageError if the folder has none or a file cannot be read.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise UsageError(f"{folder} has no *.safetensors file: save the model in that format.")
    weights: dict[str, Tensor] = {}
    for file in files:
        try:
            with safe_open(file, "pt", device=str(device)) as opened:
                names = [name for name in opened.keys() if wanted(name)]  # noqa: SIM118
                weights |= {name: opened.get_tensor(name) for name in names}
        except SafetensorError as error:
            raise UsageError(f"{file} cannot be read ({error}): copy it again.") from error
    return {name: w.to(dtype) if w.is_floating_point() else w for name, w in weights.items()}


def _rope(raw: Mapping[str, Any], head_dim: int) -> tuple[Tensor, float]:
    """Rotary frequencies, with the scaling the checkpoint was trained with (Llama 3, YaRN).

    transformers knows the scalings; without one it is not asked, because importing its
    configurations takes as long as importing torch.
    """
    rope = raw.get("rope_parameters") or raw.get("rope_scaling") or {}
    if rope.get("rope_type", rope.get("type", "default")) == "default":
        theta = float(rope.get("rope_theta") or raw.get("rope_theta") or DEFAULT_ROPE_THETA)
        return 1.0 / theta ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim), 1.0

    from transformers import AutoConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    others = {key: value for key, value in raw.items() if key != "model_type"}
    config = AutoConfig.for_model(raw["model_type"], **others)
    kind = config.rope_parameters["rope_type"]
    frequencies, scale = ROPE_INIT_FUNCTIONS[kind](config, torch.device("cpu"))
    return frequencies, float(scale)


def _eos_ids(folder: Path, raw: dict[str, Any]) -> frozenset[int]:
    """End tokens of generation_config.json, which chat models extend, else of config.json."""
    generation = folder / "generation_config.json"
    found = read_json(folder, generation.name).get("eos_token_id") if generation.exists() else None
    found = raw.get("eos_token_id") if found is None else found
    return frozenset([found] if isinstance(found, int) else found or [])

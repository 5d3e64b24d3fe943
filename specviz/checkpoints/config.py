"""The configuration of a draft, a head or a target: one flat form for all formats, and its sizes.

Speculators keeps the head's layer in `transformer_layer_config`, multimodal models the language
model in `text_config`; vLLM 0.33 flattens both (`transformers_utils/configs/speculators`). Heads
that were converted for vLLM in 2024 have theirs in `model` (`transformers_utils/configs/eagle.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from specviz.errors import UsageError

Config = Mapping[str, Any]

LAYER_CONFIG = "transformer_layer_config"
SPECULATORS_TYPE = "speculators_model_type"
SPECULATORS_CONFIG = "speculators_config"
MODEL_TYPES = ("llama", "qwen2", "qwen3")
"""The decoders whose tensors are known here; the embedded engine runs the same."""
LARGEST_SIZE = 1 << 31
MOST = {"num_hidden_layers": 1000, "num_heads": 1000}
"""Of what is counted one by one."""


def flat(raw: Config) -> dict[str, Any]:
    """`raw` with the nested layer or language model in one object with the rest."""
    text = raw.get("text_config")
    return flat_head({**raw, **text} if isinstance(text, dict) else raw)


def flat_head(raw: Config) -> dict[str, Any]:
    """`raw` with Speculators' nested layer; what is next to the layer wins, but its type."""
    layer = raw.get("model" if raw.get("model_type") == "eagle" else LAYER_CONFIG)
    if not isinstance(layer, dict):
        return dict(raw)
    nested = (LAYER_CONFIG, "model", "model_type")
    own = {key: value for key, value in raw.items() if key not in nested}
    return {**layer, **own}


def architectures(config: Config) -> list[str]:
    found = config.get("architectures")
    return [str(one) for one in found] if isinstance(found, list) else []


@dataclass(frozen=True, slots=True)
class Sizes:
    """Of a decoder: layers and widths, as in `config.json`."""

    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int


def read_sizes(config: Config, name: str) -> Sizes:
    """Raises UsageError for a size that is missing or cannot be one."""
    heads = size_of(config, "num_attention_heads", name)
    hidden = size_of(config, "hidden_size", name)
    return Sizes(
        layers=size_of(config, "num_hidden_layers", name),
        hidden=hidden,
        intermediate=size_of(config, "intermediate_size", name),
        heads=heads,
        kv_heads=size_of(config, "num_key_value_heads", name, heads),
        head_dim=size_of(config, "head_dim", name, hidden // heads or 1),
        vocabulary=size_of(config, "vocab_size", name),
    )


def size_of(config: Config, key: str, name: str, otherwise: int | None = None) -> int:
    """A size, `otherwise` where it is missing or null. Raises UsageError."""
    found = config.get(key)
    if found is None:
        found = otherwise
    if found is None:
        raise UsageError(f"config.json of {name} has no {key}: restore the model's own file.")
    if type(found) is not int or not 0 < found <= MOST.get(key, LARGEST_SIZE):
        raise UsageError(
            f"config.json of {name} has {key} {str(found)[:40]!r}, which cannot be: restore the "
            "model's own file."
        )
    return found

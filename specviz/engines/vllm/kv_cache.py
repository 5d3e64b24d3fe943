"""How much memory a CPU server's KV cache needs.

Without a figure of ours vLLM's CPU build takes a share of the whole machine, so that a second
server may find nothing left.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

STREAMS = 16
MAX_CONTEXT = 4096
"""Room is made for `STREAMS` requests of the model's context, at most this many tokens each."""

BYTES_PER_VALUE = 2  # bf16
SPARE = 1.1  # blocks that are only partly filled


def kv_cache_bytes(models: list[Path]) -> int | None:
    """Bytes for the target and its draft, None if a `config.json` is not on this machine.

    At least one request of the model's full context fits, as vLLM demands.
    """
    configs = [read_config(model) for model in models]
    known = [config for config in configs if config is not None]
    if len(known) < len(models) or not known:
        return None
    per_token = sum(bytes_per_token(config) for config in known)
    context = int(known[0].get("max_position_embeddings") or MAX_CONTEXT)
    tokens = max(STREAMS * min(context, MAX_CONTEXT), context)
    return round(tokens * per_token * SPARE)


def bytes_per_token(config: dict[str, Any]) -> int:
    """Keys and values of all layers, for one token: 2 · layers · KV heads · head size · bytes."""
    heads = int(config.get("num_attention_heads") or 1)
    kv_heads = int(config.get("num_key_value_heads") or heads)
    head_size = int(config.get("head_dim") or config.get("hidden_size", 0) // heads)
    layers = int(config.get("num_hidden_layers") or 1)
    return layers * kv_heads * head_size * 2 * BYTES_PER_VALUE


def read_config(model: Path) -> dict[str, Any] | None:
    """The language model's `config.json`, None if it is not there or not JSON."""
    try:
        config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(config, dict):
        return None
    text = config.get("text_config")  # multimodal models keep the language model's part here
    return {**config, **text} if isinstance(text, dict) else config

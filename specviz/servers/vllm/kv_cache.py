"""How much memory a CPU server's KV cache needs.

Without a figure of ours vLLM's CPU build takes a share of the whole machine, so that a second
server may find nothing left.
"""

from __future__ import annotations

from pathlib import Path

from specviz.engines.model_folder import bytes_per_token, read_config

STREAMS = 16
MAX_CONTEXT = 4096
"""Room is made for `STREAMS` requests of the model's context, at most this many tokens each."""

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

"""Llama's weights under Hugging Face's names and GGUF's, and the rows in each one's order.

The rotary embedding of llama.cpp turns neighbouring pairs of a head (0, 1), (2, 3), …; that of
Hugging Face turns the halves against each other, (0, d/2), (1, d/2 + 1), …. Rows of queries and
keys are therefore in another order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_HUGGING_FACE, _GGUF = "model.layers.", "blk."
_WEIGHT = ".weight"
_TO_GGUF = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.down_proj": "ffn_down",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
}
_TO_HUGGING_FACE = {theirs: ours for ours, theirs in _TO_GGUF.items()}


def gguf_name(name: str) -> str | None:
    """`model.layers.3.self_attn.q_proj.weight` → `blk.3.attn_q.weight`; None for a tensor that a
    plain Llama does not have."""
    return _renamed(name, _HUGGING_FACE, _GGUF, _TO_GGUF)


def hugging_face_name(name: str) -> str | None:
    """The other way."""
    return _renamed(name, _GGUF, _HUGGING_FACE, _TO_HUGGING_FACE)


def turned_heads(name: str, heads: int, kv_heads: int) -> int | None:
    """How many heads the rows of a tensor with Hugging Face's name are, None where rows keep their
    order."""
    if name.endswith(f"q_proj{_WEIGHT}"):
        return heads
    return kv_heads if name.endswith(f"k_proj{_WEIGHT}") else None


def in_pairs(values: NDArray[Any], heads: int) -> NDArray[Any]:
    """Rows [heads · d, columns] in llama.cpp's order, from Hugging Face's."""
    return _reordered(values, (heads, 2, -1, values.shape[1]))  # [heads, half, pair, columns]


def in_halves(values: NDArray[Any], heads: int) -> NDArray[Any]:
    """Rows [heads · d, columns] in Hugging Face's order, from llama.cpp's."""
    return _reordered(values, (heads, -1, 2, values.shape[1]))  # [heads, pair, half, columns]


def _reordered(values: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    return np.ascontiguousarray(values.reshape(shape).swapaxes(1, 2).reshape(values.shape))


def _renamed(name: str, prefix: str, other: str, names: dict[str, str]) -> str | None:
    stem = name.removesuffix(_WEIGHT)
    layer = ""
    if stem.startswith(prefix):
        number, _, stem = stem.removeprefix(prefix).partition(".")
        layer = f"{other}{number}."
    known = stem in names and name.endswith(_WEIGHT)
    return f"{layer}{names[stem]}{_WEIGHT}" if known else None

"""The target over many texts at once: whole texts read, and one token added to each.

The weights are those that the embedded engine has loaded; only attention differs, because every
row has a text and a length of its own. A token's logits are the engine's, up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from specviz.engines.embedded.model import Llama


class RowsCache:
    """Keys and values [layers, rows, KV heads, slots, size] of `count` texts, and their lengths."""

    def __init__(self, target: Llama, rows: int, slots: int) -> None:
        config = target.config
        shape = (config.layers, rows, config.kv_heads, slots, config.head_dim)
        self.keys = torch.zeros(shape, dtype=target.dtype, device=target.device)
        self.values = torch.zeros_like(self.keys)
        self.lengths = torch.zeros(rows, dtype=torch.long, device=target.device)
        self.count = rows

    def drop(self, place: int) -> None:
        """Forget the text at `place`: the last one takes its place."""
        self.count -= 1
        for kept in (self.keys, self.values):
            kept[:, place] = kept[:, self.count]
        self.lengths[place] = self.lengths[self.count]


@dataclass(frozen=True, slots=True)
class Reading:
    """`hidden` [n, length, H] after the final norm, `taps` [n, length, layers * H]."""

    hidden: Tensor
    taps: Tensor


def padded(texts: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Token ids [n, longest], zeros on the right, which a causal model does not see."""
    rows = [torch.tensor(text) for text in texts]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True).to(device)


def read(
    target: Llama, ids: Tensor, layers: Sequence[int] = (), cache: RowsCache | None = None
) -> Reading:
    """Read whole texts [n, length] and keep the inputs of `layers`; the number of layers stands
    for the last one's output, before the norm. An empty `cache` gets keys and values; the caller
    sets its lengths."""
    n, length = ids.shape
    positions = torch.arange(length, device=ids.device).repeat(n)
    x = target.embeddings[ids].flatten(0, 1)
    tapped = []
    for index, layer in enumerate(target.layers):
        if index in layers:
            tapped.append(x)
        query, keys, values = (
            part.unflatten(0, (n, length)).transpose(1, 2)
            for part in layer.project(layer.norm(x, _norm(layer.input_norm)), positions)
        )
        if cache is not None:
            cache.keys[index, :, :, :length] = keys
            cache.values[index, :, :, :length] = values
        attended = functional.scaled_dot_product_attention(
            query, keys, values, is_causal=True, enable_gqa=True
        )
        x = layer.mlp(x + layer.out(attended.transpose(1, 2).reshape(n * length, -1)))
    if len(target.layers) in layers:
        tapped.append(x)
    taps = torch.cat(tapped, -1) if tapped else x[:, :0]
    hidden = target.norm_final(x)
    return Reading(*(part.unflatten(0, (n, length)) for part in (hidden, taps)))


def add_token(target: Llama, tokens: Tensor, cache: RowsCache) -> Tensor:
    """Append a token to each text [count]; logits [count, vocabulary] of the tokens after them."""
    n, config = cache.count, target.config
    rows, places = torch.arange(n, device=tokens.device), cache.lengths[:n]
    slots = int(places.max()) + 1
    hidden_slots = torch.arange(slots, device=tokens.device) > places[:, None]
    mask = target.embeddings.new_zeros(n, 1, 1, slots)
    mask.masked_fill_(hidden_slots[:, None, None], float("-inf"))
    x = target.embeddings[tokens]
    for index, layer in enumerate(target.layers):
        query, keys, values = layer.project(layer.norm(x, _norm(layer.input_norm)), places)
        cache.keys[index, rows, :, places] = keys
        cache.values[index, rows, :, places] = values
        attended = functional.scaled_dot_product_attention(
            query.unflatten(1, (config.kv_heads, -1)),  # heads that share a KV head are adjacent
            cache.keys[index, :n, :, :slots],
            cache.values[index, :n, :, :slots],
            attn_mask=mask.expand(n, 1, config.heads // config.kv_heads, slots),
        )
        x = layer.mlp(x + layer.out(attended.reshape(n, -1)))
    places += 1
    return target.head(target.norm_final(x))


def _norm(weight: Tensor | None) -> Tensor:
    assert weight is not None, "only a head's layer has none"
    return weight

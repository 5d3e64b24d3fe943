"""Keys and values of one sequence, with rollback."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

BLOCK = 128
"""Attention always reads a multiple of this many slots, see `attention.py`."""

FIRST_CAPACITY = 512


class KVCache:
    """Slots in the order in which tokens were processed; `length` of them are in use.

    `keys` and `values` are [layers, KV heads, capacity, head size]. A forward pass appends
    after `length`; the caller rolls back what is rejected.
    """

    def __init__(
        self, layers: int, kv_heads: int, head_dim: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        shape = (layers, kv_heads, FIRST_CAPACITY, head_dim)
        self.keys = torch.zeros(shape, dtype=dtype, device=device)
        self.values = torch.zeros_like(self.keys)
        self.length = 0

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes

    def reserve(self, count: int) -> None:
        """Make room for `count` more tokens, doubling the capacity as often as needed."""
        capacity = self.keys.shape[2]
        while capacity < self.length + count + BLOCK:
            capacity *= 2
        if capacity > self.keys.shape[2]:
            self.keys = _grown(self.keys, capacity)
            self.values = _grown(self.values, capacity)

    def rollback(self, length: int) -> None:
        """Forget all slots from `length` on."""
        assert 0 <= length <= self.length
        self.length = length

    def keep(self, start: int, kept: Sequence[int]) -> None:
        """Of the slots from `start` on, keep those at offsets `kept` (ascending), without gaps."""
        if any(offset != place for place, offset in enumerate(kept)):
            slots = torch.tensor([start + offset for offset in kept], device=self.keys.device)
            end = start + len(kept)
            self.keys[:, :, start:end] = self.keys[:, :, slots]
            self.values[:, :, start:end] = self.values[:, :, slots]
        self.rollback(start + len(kept))


def _grown(old: Tensor, capacity: int) -> Tensor:
    layers, heads, _, size = old.shape
    new = torch.zeros((layers, heads, capacity, size), dtype=old.dtype, device=old.device)
    new[:, :, : old.shape[2]] = old
    if old.is_cuda:  # Mirror's stream may be copying it when another one gets its memory
        old.record_stream(torch.cuda.current_stream(old.device))
    return new

"""Attention of a few new tokens over a cache: chains, trees and whole prompts.

In float32 on a CPU, `compiled/` computes a few tokens where there is a compiler. Elsewhere on a CPU
the result for a token of a chain does not depend on how many others are computed with it, bit for
bit: rows are always computed `ROWS` at a time, padded where fewer are left, over a multiple of
`BLOCK` slots, so that sums are made in the same order. (With all rows in one product, or 32 slots
per block, about one result in a thousand differed in the last bit.) `repeats_plain` in `options.py`
says what follows for greedy output.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from torch import Tensor
from torch.nn import functional

from specviz.engines.embedded.kv_cache import BLOCK
from specviz.engines.embedded.options import MOST_ROWS
from specviz.trace import ROOT

ROWS = 4
"""New tokens that are computed together: few, because plain decoding pads one token to as many."""


@dataclass(frozen=True)
class Layout:
    """Where new tokens are, [n] of them: their `positions`, and which slots they see.

    All see the slots before `start`, and row r slot start + i where `seen[r, i]`. Masks are made
    in the type of `like`.
    """

    positions: Tensor
    start: int
    seen: Tensor
    like: Tensor

    @property
    def slots(self) -> int:
        """How many slots attention reads."""
        return (self.start + self.seen.shape[1] + BLOCK - 1) // BLOCK * BLOCK

    @cached_property
    def mask(self) -> Tensor:
        """[n, slots], to be added to scores: 0 or minus infinity."""
        new = slice(self.start, self.start + self.seen.shape[1])
        hidden = self.like.new_full((len(self.seen), self.slots), float("-inf"))
        hidden[:, : self.start] = 0.0
        hidden[:, new].masked_fill_(self.seen, 0.0)
        return hidden

    @cached_property
    def _block_masks(self) -> dict[int, Tensor]:
        return {}

    def block_mask(self, group: int) -> Tensor:
        """For blocks of `ROWS` tokens of `group` heads each: [blocks, 1, rows * group, slots]."""
        if group not in self._block_masks:  # the same in all layers of a model
            padding = -len(self.mask) % ROWS
            mask = functional.pad(self.mask, (0, 0, 0, padding)).view(-1, ROWS, self.slots)
            self._block_masks[group] = mask.repeat_interleave(group, 1)[:, None]
        return self._block_masks[group]


def chain_layout(start: int, count: int, like: Tensor) -> Layout:
    """`count` tokens in a row after `start` earlier ones."""
    positions = torch.arange(start, start + count, device=like.device)
    return Layout(positions, start, _triangle(count, like.device), like)


def tree_layout(start: int, parents: tuple[int, ...], like: Tensor, *, read: int = 0) -> Layout:
    """A root token after `start` earlier ones, then tree nodes that see only their ancestors.

    The layout of the rows from `read` on: the root and the first nodes may be cached already.
    """
    depths, seen = _ancestors(parents)
    positions = depths[read:].to(like.device) + start
    return Layout(positions, start, seen[read:].to(like.device), like)


def attend(query: Tensor, keys: Tensor, values: Tensor, layout: Layout) -> Tensor:
    """[n, heads * size] from query [n, heads, size] and a layer's keys [KV heads, slots, size].

    Heads that share a KV head are adjacent, as in grouped-query attention (arXiv 2305.13245).
    """
    n, heads, size = query.shape
    keys, values = keys[None, :, : layout.slots], values[None, :, : layout.slots]
    if n <= MOST_ROWS:
        return _attend_in_blocks(query, keys, values, layout)[:n]
    out = functional.scaled_dot_product_attention(
        query.transpose(0, 1)[None],
        keys,
        values,
        attn_mask=layout.mask[None, None],
        enable_gqa=True,
    )
    return out[0].transpose(0, 1).reshape(n, heads * size)


def _attend_in_blocks(query: Tensor, keys: Tensor, values: Tensor, layout: Layout) -> Tensor:
    """As `attend`, `ROWS` tokens to a batch entry, with padding rows at the end."""
    n, heads, size = query.shape
    kv_heads = keys.shape[1]
    group = heads // kv_heads
    query = functional.pad(query, (0, 0, 0, 0, 0, -n % ROWS))
    blocks = len(query) // ROWS
    together = (blocks, kv_heads, ROWS * group, size)
    grouped = query.view(blocks, ROWS, kv_heads, group, size).transpose(1, 2).reshape(together)
    out = functional.scaled_dot_product_attention(
        grouped,
        keys.expand(blocks, -1, -1, -1),
        values.expand(blocks, -1, -1, -1),
        attn_mask=layout.block_mask(group),
    )
    rows = out.view(blocks, kv_heads, ROWS, group, size).transpose(1, 2)
    return rows.reshape(blocks * ROWS, heads * size)


@lru_cache(maxsize=MOST_ROWS)
def _triangle(count: int, device: torch.device) -> Tensor:
    """Rows that see themselves and those before them."""
    return torch.ones(count, count, dtype=torch.bool, device=device).tril()


@lru_cache(maxsize=256)
def _ancestors(parents: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Depth of the root and of every node [n + 1], and who sees whom [n + 1, n + 1]."""
    depths = [0]
    seen = torch.eye(len(parents) + 1, dtype=torch.bool)
    seen[:, 0] = True
    for node, parent in enumerate(parents, start=1):
        above = 0 if parent == ROOT else parent + 1
        depths.append(depths[above] + 1)
        seen[node] |= seen[above]
    return torch.tensor(depths), seen

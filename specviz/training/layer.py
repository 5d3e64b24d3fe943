"""One Llama layer that also attends to its own earlier drafts, as EAGLE heads need in training.

Parameter names are those of the checkpoint. Rotary positions (arXiv 2104.09864), grouped-query
attention (2305.13245), SwiGLU (2002.05202).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from specviz.engines.embedded.checkpoint import ModelConfig
from specviz.training.frozen import Frozen

INITIAL_STD = 0.02


@dataclass(frozen=True)
class Entries:
    """Keys and values [n, heads, m, head size], keys rotated to their positions."""

    keys: Tensor
    values: Tensor


class Attention(nn.Module):
    """Attention over `width` wide inputs, which need not be the hidden size."""

    frequencies: Tensor

    def __init__(self, config: ModelConfig, width: int) -> None:
        super().__init__()
        self.heads, self.kv_heads = config.heads, config.kv_heads
        self.size = config.head_dim
        self.q_proj = nn.Linear(width, self.heads * self.size, bias=False)
        self.k_proj = nn.Linear(width, self.kv_heads * self.size, bias=False)
        self.v_proj = nn.Linear(width, self.kv_heads * self.size, bias=False)
        self.o_proj = nn.Linear(self.heads * self.size, config.hidden, bias=False)
        self.rope_scale = config.rope_scale
        self.register_buffer("frequencies", config.inverse_frequencies, persistent=False)

    def entries(self, x: Tensor, positions: Tensor) -> Entries:
        """Keys and values of inputs `x` [n, m, width] at `positions` [n, m], for later ones."""
        keys = self._rotate(self._split(self.k_proj(x), self.kv_heads), positions)
        values = self._split(self.v_proj(x), self.kv_heads)
        repeats = self.heads // self.kv_heads
        return Entries(*(e.repeat_interleave(repeats, dim=1) for e in (keys, values)))

    def forward(
        self, x: Tensor, positions: Tensor, given: Entries, seen: Tensor, own: list[Entries]
    ) -> Tensor:
        """`x` [n, a, width] attends to `given` where `seen` [n, a, m], and to `own`.

        `own` are entries of the same anchors' earlier draft steps and of this one: anchor i sees
        row i of each and no other row. That is the mask of EAGLE-3's training-time test
        (arXiv 2503.01840, 3.2, figure 6) without the rows that are masked anyway.
        """
        query = self._rotate(self._split(self.q_proj(x), self.heads), positions)
        query = query / math.sqrt(self.size)
        scores = (query @ given.keys.transpose(-1, -2)).float()
        scores = scores.masked_fill(~seen[:, None], -torch.inf)
        diagonal = [(query * e.keys).sum(-1, keepdim=True).float() for e in own]
        weights = torch.cat([scores, *diagonal], -1).softmax(-1).to(given.values.dtype)
        mixed = weights[..., : scores.shape[-1]] @ given.values
        for index, entries in enumerate(own):
            mixed = mixed + weights[..., scores.shape[-1] + index, None] * entries.values
        out: Tensor = self.o_proj(mixed.transpose(1, 2).flatten(2))
        return out

    def _split(self, x: Tensor, heads: int) -> Tensor:
        split: Tensor = x.unflatten(-1, (heads, self.size)).transpose(1, 2)
        return split

    def _rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        angles = positions[:, None, :, None] * self.frequencies
        angles = torch.cat([angles, angles], -1)
        low, high = x.chunk(2, -1)
        turned = torch.cat([-high, low], -1)
        cosine, sine = (
            (wave * self.rope_scale).to(x.dtype) for wave in (angles.cos(), angles.sin())
        )
        rotated: Tensor = x * cosine + turned * sine
        return rotated


class MLP(nn.Module):
    """SwiGLU."""

    def __init__(self, hidden: int, width: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(hidden, width, bias=False)
        self.up_proj = nn.Linear(hidden, width, bias=False)
        self.down_proj = nn.Linear(width, hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))
        return out


class Layer(nn.Module):
    """Attention and MLP with their residual; the head decides what is normed before attention."""

    def __init__(self, frozen: Frozen, width: int) -> None:
        super().__init__()
        config = frozen.config
        self.self_attn = Attention(config, width)
        self.mlp = MLP(config.hidden, frozen.mlp)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden, eps=config.norm_eps)
        for matrix in self.parameters():
            if matrix.ndim == 2:
                nn.init.normal_(matrix, std=INITIAL_STD)
        # A residual branch that starts at zero leaves the features as they are.
        nn.init.zeros_(self.self_attn.o_proj.weight)
        nn.init.zeros_(self.mlp.down_proj.weight)

    def forward(self, attended: Tensor, residual: Tensor) -> Tensor:
        """The layer's output from attention's, [n, a, H]."""
        x = residual + attended
        out: Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out

"""Rotary positions (Su et al., arXiv 2104.09864)."""

from __future__ import annotations

import torch
from torch import Tensor

from specviz.engines.embedded.checkpoint import ModelConfig


class Rope:
    """Cosines and sines [positions, head size] of all positions."""

    def __init__(self, config: ModelConfig, dtype: torch.dtype, device: torch.device) -> None:
        positions = torch.arange(config.max_positions, dtype=torch.float32)
        angles = torch.outer(positions, config.inverse_frequencies.cpu())
        cosine, sine = angles.cos() * config.rope_scale, angles.sin() * config.rope_scale
        self.cosine = torch.cat([cosine, cosine], -1).to(dtype).to(device)
        # rotate-half is a roll by half the size with the first half negated: the sign sits here
        self.sine = torch.cat([-sine, sine], -1).to(dtype).to(device)

    def rotated(self, x: Tensor, positions: Tensor) -> Tensor:
        """Heads x [n, heads, head size] at their positions [n]."""
        cosine, sine = self.cosine[positions][:, None], self.sine[positions][:, None]
        return torch.addcmul(x * cosine, x.roll(x.shape[-1] // 2, -1), sine)

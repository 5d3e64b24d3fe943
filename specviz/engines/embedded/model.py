"""A decoder in Llama's form (Llama, Qwen2, Qwen3): inference only, one sequence, no batch axis.

RMSNorm (arXiv 1910.07467), rotary positions (2104.09864), grouped-query attention (2305.13245),
SwiGLU (2002.05202).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from specviz.engines.embedded.attention import Layout, attend, chain_layout, tree_layout
from specviz.engines.embedded.checkpoint import ModelConfig, load_weights, read_config
from specviz.engines.embedded.draft import Watch
from specviz.engines.embedded.kv_cache import KVCache
from specviz.engines.embedded.linear import Linear
from specviz.engines.embedded.norm import rms_norm
from specviz.errors import UsageError

Weights = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Forward:
    """What one pass gives: `logits` [rows asked for, vocabulary], `hidden` [n, hidden] after the
    final norm, `taps` [n, layers tapped * hidden]."""

    logits: Tensor
    hidden: Tensor
    taps: Tensor | None


@dataclass(frozen=True, slots=True)
class Sublayers:
    """Which attention and MLP sublayers of every layer run."""

    attention: tuple[bool, ...]
    mlp: tuple[bool, ...]

    @property
    def skipped(self) -> tuple[str, ...]:
        """Names of those that do not, as in `Step.skipped_layers`."""
        names = []
        for layer, (attention, mlp) in enumerate(zip(self.attention, self.mlp, strict=True)):
            names += [] if attention else [f"attention {layer}"]
            names += [] if mlp else [f"mlp {layer}"]
        return tuple(names)


class Rope:
    """Cosines and sines of all positions, made when a position is first asked for."""

    def __init__(self, config: ModelConfig, dtype: torch.dtype, device: torch.device) -> None:
        positions = torch.arange(config.max_positions, dtype=torch.float32)
        angles = torch.outer(positions, config.inverse_frequencies.cpu())
        cosine, sine = angles.cos() * config.rope_scale, angles.sin() * config.rope_scale
        self.cosine = torch.cat([cosine, cosine], -1).to(dtype).to(device)
        # rotate-half is a roll by half the size with the first half negated: the sign sits here
        self.sine = torch.cat([-sine, sine], -1).to(dtype).to(device)

    def at(self, positions: Tensor | slice) -> tuple[Tensor, Tensor]:
        """Cosines and sines [n, 1, head size]."""
        return self.cosine[positions][:, None], self.sine[positions][:, None]


class Layer:
    """One decoder layer."""

    def __init__(self, config: ModelConfig, weights: Weights, prefix: str) -> None:
        self.config = config
        self.input_norm = weights.get(f"{prefix}.input_layernorm.weight")
        self.mlp_norm = weights[f"{prefix}.post_attention_layernorm.weight"]
        self.q_norm = weights.get(f"{prefix}.self_attn.q_norm.weight")
        self.k_norm = weights.get(f"{prefix}.self_attn.k_norm.weight")
        self.qkv = _stacked(weights, [f"{prefix}.self_attn.{name}_proj" for name in "qkv"])
        self.out = _stacked(weights, [f"{prefix}.self_attn.o_proj"])
        self.gate_up = _stacked(weights, [f"{prefix}.mlp.{n}_proj" for n in ("gate", "up")])
        self.down = _stacked(weights, [f"{prefix}.mlp.down_proj"])

    @property
    def nbytes(self) -> int:
        return sum(linear.nbytes for linear in (self.qkv, self.out, self.gate_up, self.down))

    def attention(
        self,
        x: Tensor,
        cache: KVCache,
        index: int,
        layout: Layout,
        rope: tuple[Tensor, Tensor],
    ) -> Tensor:
        """Attention of normed x [n, in]; its keys and values are appended to the cache."""
        config, n = self.config, x.shape[0]
        rotated = config.heads + config.kv_heads
        qkv = self.qkv(x).view(n, rotated + config.kv_heads, config.head_dim)
        if self.q_norm is not None and self.k_norm is not None:
            qkv = self._norm_heads(qkv)
        cosine, sine = rope
        qk = qkv[:, :rotated]
        qk = torch.addcmul(qk * cosine, qk.roll(config.head_dim // 2, -1), sine)
        keys, values = cache.keys[index], cache.values[index]
        start = cache.length
        keys[:, start : start + n] = qk[:, config.heads :].transpose(0, 1)
        values[:, start : start + n] = qkv[:, rotated:].transpose(0, 1)
        return self.out(attend(qk[:, : config.heads], keys, values, layout))

    def mlp(self, x: Tensor) -> Tensor:
        """SwiGLU of x, normed here."""
        gate, up = self.gate_up(self.norm(x, self.mlp_norm)).chunk(2, -1)
        return self.down(functional.silu(gate) * up)

    def norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return rms_norm(x, weight, self.config.norm_eps)

    def _norm_heads(self, qkv: Tensor) -> Tensor:
        heads, kv_heads = self.config.heads, self.config.kv_heads
        q, k, v = qkv.split([heads, kv_heads, kv_heads], 1)
        assert self.q_norm is not None and self.k_norm is not None
        return torch.cat([self.norm(q, self.q_norm), self.norm(k, self.k_norm), v], 1)


class Llama:
    """A whole model: embeddings, layers, final norm, head."""

    def __init__(
        self, config: ModelConfig, weights: Weights, dtype: torch.dtype, device: torch.device
    ) -> None:
        self.config, self.dtype, self.device = config, dtype, device
        self.embeddings = weights["model.embed_tokens.weight"]
        self.layers = [
            Layer(config, weights, f"model.layers.{index}") for index in range(config.layers)
        ]
        self.final_norm = weights["model.norm.weight"]
        head = self.embeddings if config.tied else weights["lm_head.weight"]
        self.head = Linear(head)
        self.rope = Rope(config, dtype, device)

    @property
    def nbytes(self) -> int:
        """Bytes of the weights, norms left out."""
        head = 0 if self.config.tied else self.head.nbytes
        return self.embeddings.nbytes + head + sum(layer.nbytes for layer in self.layers)

    def new_cache(self) -> KVCache:
        config = self.config
        return KVCache(config.layers, config.kv_heads, config.head_dim, self.dtype, self.device)

    def forward(
        self,
        token_ids: Sequence[int],
        cache: KVCache,
        *,
        parents: tuple[int, ...] | None = None,
        logits_from: int = 0,
        taps: tuple[int, ...] = (),
        watch: Watch | None = None,
        run: Sublayers | None = None,
    ) -> Forward:
        """Process tokens [n] after the cached ones; logits for the rows from `logits_from` on.

        With `parents` the tokens are a root and the nodes of a tree (`Draft.parents`), else a
        chain. `taps` are layers whose inputs are returned (the number of layers: the last output).
        """
        n = len(token_ids)
        cache.reserve(n)
        ids = torch.tensor(token_ids, device=self.device)
        layout = (
            chain_layout(cache.length, n, self.embeddings)
            if parents is None
            else tree_layout(cache.length, parents, self.embeddings)
        )
        rope = self.rope.at(layout.positions)
        x = self.embeddings[ids]
        tapped = []
        for index, layer in enumerate(self.layers):
            if index in taps:
                tapped.append(x)
            if watch is not None and watch.layer == index:
                watch.seen(x)
            if run is None or run.attention[index]:
                assert layer.input_norm is not None
                normed = layer.norm(x, layer.input_norm)
                x = x + layer.attention(normed, cache, index, layout, rope)
            if run is None or run.mlp[index]:
                x = x + layer.mlp(x)
        if len(self.layers) in taps:
            tapped.append(x)
        cache.length += n
        hidden = self.norm_final(x)
        if watch is not None:
            watch.over()
        taps_side_by_side = torch.cat(tapped, -1) if tapped else None
        return Forward(self.head(hidden[logits_from:]), hidden, taps_side_by_side)

    def norm_final(self, x: Tensor) -> Tensor:
        """The norm before the head, also for hidden states of earlier layers."""
        return rms_norm(x, self.final_norm, self.config.norm_eps)


def load_model(folder: Path, dtype: torch.dtype, device: torch.device) -> Llama:
    """The model in a Hugging Face folder. Raises UsageError for one that we do not run."""
    config = read_config(folder)
    weights = load_weights(folder, dtype, device)
    try:
        with torch.inference_mode():
            return Llama(config, weights, dtype, device)
    except KeyError as error:
        raise UsageError(f"The weights in {folder} lack {error}: copy the model again.") from error


def _stacked(weights: Weights, names: Sequence[str]) -> Linear:
    """Projections of the same input as one product."""
    weight = torch.cat([weights[f"{name}.weight"] for name in names])
    biases = [weights[f"{name}.bias"] for name in names if f"{name}.bias" in weights]
    return Linear(weight, torch.cat(biases) if biases else None)

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

from specviz.engines.embedded.attention import (
    Layout,
    attend,
    chain_layout,
    tree_layout,
)
from specviz.engines.embedded.checkpoint import ModelConfig, load_weights, read_config
from specviz.engines.embedded.compiled.layer import CompiledLayer, Parts, fits
from specviz.engines.embedded.draft import Watch
from specviz.engines.embedded.kv_cache import KVCache
from specviz.engines.embedded.linear import Linear
from specviz.engines.embedded.norm import rms_norm
from specviz.engines.embedded.options import COMPILED, LAID_OUT, MOST_ROWS
from specviz.engines.embedded.rope import Rope
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


class Layer:
    """One decoder layer. A few rows are computed by the compiled kernels where there are any."""

    def __init__(self, config: ModelConfig, weights: Weights, prefix: str, rope: Rope) -> None:
        self.config = config
        self._rope = rope
        self.input_norm = weights.get(f"{prefix}.input_layernorm.weight")
        self.mlp_norm = weights[f"{prefix}.post_attention_layernorm.weight"]
        self.q_norm = weights.get(f"{prefix}.self_attn.q_norm.weight")
        self.k_norm = weights.get(f"{prefix}.self_attn.k_norm.weight")
        self.qkv = _stacked(weights, [f"{prefix}.self_attn.{name}_proj" for name in "qkv"])
        self.out = _stacked(weights, [f"{prefix}.self_attn.o_proj"])
        self.gate_up = _stacked(weights, [f"{prefix}.mlp.{n}_proj" for n in ("gate", "up")])
        self.down = _stacked(weights, [f"{prefix}.mlp.down_proj"])
        self._compiled = self._compile()

    @property
    def compiled(self) -> bool:
        return self._compiled is not None

    @property
    def nbytes(self) -> int:
        return sum(linear.nbytes for linear in (self.qkv, self.out, self.gate_up, self.down))

    def attention(
        self,
        x: Tensor,
        norm: Tensor | None,
        residual: Tensor,
        cache: KVCache,
        index: int,
        layout: Layout,
    ) -> Tensor:
        """residual + attention of x [n, in], which is normed first if there is a `norm`.

        Keys and values are appended to layer `index` of the cache.
        """
        n = x.shape[0]
        if self._compiled is not None and n <= MOST_ROWS:
            return self._compiled.attention(x, norm, residual, cache, index, layout)
        x = x if norm is None else self.norm(x, norm)
        query, new_keys, new_values = self.project(x, layout.positions)
        keys, values = cache.keys[index], cache.values[index]
        start = cache.length
        keys[:, start : start + n] = new_keys.transpose(0, 1)
        values[:, start : start + n] = new_values.transpose(0, 1)
        return residual + self.out(attend(query, keys, values, layout))

    def project(self, x: Tensor, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries [n, heads, size], keys and values [n, KV heads, size] of normed x [n, in];
        queries and keys are rotated to their positions [n]."""
        heads, kv_heads = self.config.heads, self.config.kv_heads
        rotated = heads + kv_heads
        qkv = self.qkv(x).view(x.shape[0], rotated + kv_heads, self.config.head_dim)
        if self.q_norm is not None and self.k_norm is not None:
            qkv = self._norm_heads(qkv)
        qk = self._rope.rotated(qkv[:, :rotated], positions)
        return qk[:, :heads], qk[:, heads:], qkv[:, rotated:]

    def mlp(self, x: Tensor) -> Tensor:
        """x + SwiGLU of x, normed here."""
        if self._compiled is not None and x.shape[0] <= MOST_ROWS:
            return self._compiled.mlp(x)
        gate, up = self.gate_up(self.norm(x, self.mlp_norm)).chunk(2, -1)
        return x + self.down(functional.silu(gate) * up)

    def norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return rms_norm(x, weight, self.config.norm_eps)

    def _norm_heads(self, qkv: Tensor) -> Tensor:
        heads, kv_heads = self.config.heads, self.config.kv_heads
        q, k, v = qkv.split([heads, kv_heads, kv_heads], 1)
        assert self.q_norm is not None and self.k_norm is not None
        return torch.cat([self.norm(q, self.q_norm), self.norm(k, self.k_norm), v], 1)

    def _compile(self) -> CompiledLayer | None:
        qkv, out = self.qkv.product, self.out.product
        gate_up, down = self.gate_up.product, self.down.product
        if not (qkv and out and gate_up and down and fits(self.config)):
            return None
        rope = (self._rope.cosine, self._rope.sine)
        return CompiledLayer(
            self.config,
            Parts(qkv, out, gate_up, down, self.mlp_norm, self.q_norm, self.k_norm, rope),
        )


class Llama:
    """A whole model: embeddings, layers, final norm, head."""

    def __init__(
        self, config: ModelConfig, weights: Weights, dtype: torch.dtype, device: torch.device
    ) -> None:
        self.config, self.dtype, self.device = config, dtype, device
        self.embeddings = weights["model.embed_tokens.weight"]
        rope = Rope(config, dtype, device)
        self.layers = [
            Layer(config, weights, f"model.layers.{index}", rope) for index in range(config.layers)
        ]
        self.final_norm = weights["model.norm.weight"]
        head = self.embeddings if config.tied else weights["lm_head.weight"]
        self.head = Linear(head)

    @property
    def compiled(self) -> bool:
        """Whether the compiled kernels compute a few rows."""
        return self.layers[0].compiled

    @property
    def products(self) -> str | None:
        """How products of a few rows are computed, None if by torch alone."""
        if self.compiled:
            return COMPILED
        return LAID_OUT if self.head.laid_out else None

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
        x = self.embeddings[ids]
        tapped = []
        for index, layer in enumerate(self.layers):
            if index in taps:
                tapped.append(x)
            if watch is not None and watch.layer == index:
                watch.seen(x)
            if run is None or run.attention[index]:
                x = layer.attention(x, layer.input_norm, x, cache, index, layout)
            if run is None or run.mlp[index]:
                x = layer.mlp(x)
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

"""EAGLE: one decoder layer that predicts the target's next hidden state from this one.

Li et al., arXiv 2401.15077. Embeddings and vocabulary head are the target's own. Format as served
by vLLM: `fc`, `layers.0.*` without an input norm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from specviz.engines.embedded.attention import Layout
from specviz.engines.embedded.checkpoint import load_weights, read_config
from specviz.engines.embedded.draft import Outcome
from specviz.engines.embedded.kv_cache import KVCache
from specviz.engines.embedded.linear import Linear
from specviz.engines.embedded.model import Layer, Llama, Weights
from specviz.engines.embedded.proposers.feature_head import FeatureDrafter
from specviz.engines.embedded.rope import Rope
from specviz.errors import UsageError


class EagleHead:
    """fc(token, hidden) through one layer gives the next hidden state."""

    tap_layers: tuple[int, ...] = ()

    def __init__(self, layer: Layer, fc: Linear, target: Llama) -> None:
        self._layer = layer
        self._fc = fc
        self._target = target

    @property
    def nbytes(self) -> int:
        return self._layer.nbytes + self._fc.nbytes

    def new_cache(self) -> KVCache:
        config, target = self._layer.config, self._target
        return KVCache(1, config.kv_heads, config.head_dim, target.dtype, target.device)

    def features(self, outcome: Outcome) -> Tensor:
        return outcome.hidden

    def forward(
        self, token_ids: Sequence[int], features: Tensor, cache: KVCache, layout: Layout
    ) -> tuple[Tensor, Tensor]:
        target, layer = self._target, self._layer
        embedded = target.embeddings[torch.tensor(token_ids, device=target.device)]
        x = self._fc(torch.cat([embedded, features], -1))
        x = layer.mlp(layer.attention(x, None, x, cache, 0, layout))
        cache.length += len(token_ids)
        return target.head(x), x


def load_eagle(folder: Path, target: Llama, *, tree: bool, floor: float = 0.0) -> FeatureDrafter:
    """The head in `folder`. Raises UsageError where it is not an EAGLE head for `target`."""
    weights = _head_weights(folder, target)
    if "fc.weight" not in weights or weights["fc.weight"].shape[1] != 2 * target.config.hidden:
        raise UsageError(
            f"{folder} has no EAGLE head for a hidden size of {target.config.hidden}: train one "
            "with `specviz train`, or name another folder with --draft."
        )
    config = replace(read_config(folder), model_type="llama")
    rope = Rope(config, target.dtype, target.device)
    layer = Layer(config, weights, "layers.0", rope)
    return FeatureDrafter(
        EagleHead(layer, Linear(weights["fc.weight"], weights.get("fc.bias")), target),
        tree=tree,
        floor=floor,
    )


def _head_weights(folder: Path, target: Llama) -> Weights:
    weights = load_weights(folder, target.dtype, target.device)
    return {name.removeprefix("model."): weight for name, weight in weights.items()}

"""EAGLE-3: a head on low, middle and high features of the target, trained on its own predictions.

Li et al., arXiv 2503.01840, section 3. Format as served by vLLM: `fc`, `midlayer.*`, `norm`,
`lm_head` over a draft vocabulary, `d2t` from draft to target ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from specviz.engines.embedded.attention import Layout
from specviz.engines.embedded.checkpoint import load_weights, read_config, read_json
from specviz.engines.embedded.draft import Outcome
from specviz.engines.embedded.kv_cache import KVCache
from specviz.engines.embedded.linear import Linear
from specviz.engines.embedded.model import Layer, Llama, Rope, Weights
from specviz.engines.embedded.norm import rms_norm
from specviz.engines.embedded.proposers.feature_head import FeatureDrafter
from specviz.errors import UsageError

LAYERS_KEY = "eagle_aux_hidden_state_layer_ids"


class Eagle3Head:
    """One layer over (token, fused features), each normed; its output is the next feature."""

    def __init__(
        self, layer: Layer, weights: Weights, rope: Rope, target: Llama, taps: tuple[int, ...]
    ) -> None:
        self.tap_layers = taps
        self._layer = layer
        self._rope = rope
        self._target = target
        self._fc = Linear(weights["fc.weight"])
        self._feature_norm = weights["midlayer.hidden_norm.weight"]
        self._norm = weights["norm.weight"]
        self._head = Linear(weights["lm_head.weight"])
        self._target_ids = _target_ids(weights, target.config.vocabulary)

    @property
    def nbytes(self) -> int:
        return self._layer.nbytes + self._fc.nbytes + self._head.nbytes

    def new_cache(self) -> KVCache:
        config, target = self._layer.config, self._target
        return KVCache(1, config.kv_heads, config.head_dim, target.dtype, target.device)

    def features(self, outcome: Outcome) -> Tensor:
        assert outcome.taps is not None
        return self._fc(outcome.taps)

    def forward(
        self, token_ids: Sequence[int], features: Tensor, cache: KVCache, layout: Layout
    ) -> tuple[Tensor, Tensor]:
        target, layer = self._target, self._layer
        embedded = target.embeddings[torch.tensor(token_ids, device=target.device)]
        assert layer.input_norm is not None
        both = torch.cat(
            [layer.norm(embedded, layer.input_norm), layer.norm(features, self._feature_norm)], -1
        )
        rope = self._rope.at(layout.positions)
        x = features + layer.attention(both, cache, 0, layout, rope)
        x = x + layer.mlp(x)
        cache.length += len(token_ids)
        return self._logits(x), x

    def _logits(self, x: Tensor) -> Tensor:
        """[n, target vocabulary]; tokens outside of the draft vocabulary get minus infinity."""
        normed = rms_norm(x, self._norm, self._layer.config.norm_eps)
        logits = self._head(normed)
        if self._target_ids is None:
            return logits
        shape = (len(x), self._target.config.vocabulary)
        return logits.new_full(shape, float("-inf")).index_copy_(1, self._target_ids, logits)


def load_eagle3(folder: Path, target: Llama, *, tree: bool, floor: float = 0.0) -> FeatureDrafter:
    """The head in `folder`. Raises UsageError where it is not an EAGLE-3 head for `target`."""
    weights = {
        name.removeprefix("model.").replace("layers.0.", "midlayer."): weight
        for name, weight in load_weights(folder, target.dtype, target.device).items()
    }
    taps = _tap_layers(read_json(folder, "config.json"))
    width = len(taps) * target.config.hidden
    if not taps or "fc.weight" not in weights or weights["fc.weight"].shape[1] != width:
        raise UsageError(
            f"{folder} has no EAGLE-3 head for a hidden size of {target.config.hidden} and "
            f"{LAYERS_KEY}: train one with `specviz train`, or name another folder with --draft."
        )
    config = read_config(folder)
    rope = Rope(config, target.dtype, target.device)
    layer = Layer(config, weights, "midlayer")
    return FeatureDrafter(Eagle3Head(layer, weights, rope, target, taps), tree=tree, floor=floor)


def _tap_layers(config: dict[str, Any]) -> tuple[int, ...]:
    found = config.get(LAYERS_KEY) or config.get("eagle_config", {}).get(LAYERS_KEY) or ()
    return tuple(map(int, found))


def _target_ids(weights: Weights, vocabulary: int) -> Tensor | None:
    """Target id of every draft id (`d2t` holds the differences), None where all are the same."""
    size = weights["lm_head.weight"].shape[0]
    if "d2t" not in weights or (size == vocabulary and not weights["d2t"].any()):
        return None
    return torch.arange(size, device=weights["d2t"].device) + weights["d2t"]

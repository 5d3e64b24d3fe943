"""EAGLE-3: a head on low, middle and high features of the target, trained on its own predictions.

Li et al., arXiv 2503.01840, section 3. Format as served by vLLM: `fc`, `midlayer.*` (SpecForge) or
`layers.0.*` (Speculators), `norm`, `lm_head` over a draft vocabulary, `d2t` from draft to target
ids. Where norms stand differs between trainers; `config.json` says where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from specviz.checkpoints.aux_layers import EAGLE_CONFIG, LAYERS_KEY, aux_layers
from specviz.checkpoints.config import flat_head
from specviz.engines.embedded.attention import Layout
from specviz.engines.embedded.checkpoint import load_weights, read_config, read_json
from specviz.engines.embedded.draft import Outcome
from specviz.engines.embedded.kv_cache import KVCache
from specviz.engines.embedded.linear import Linear
from specviz.engines.embedded.model import Layer, Llama, Weights
from specviz.engines.embedded.norm import rms_norm
from specviz.engines.embedded.proposers.feature_head import FeatureDrafter
from specviz.engines.embedded.rope import Rope
from specviz.errors import UsageError


@dataclass(frozen=True, slots=True)
class Norms:
    """Where a head has its norms, as vLLM's `llama_eagle3.py` reads it from `config.json`.

    `before_residual`: the residual is what the feature norm gave. `before_fc`: one norm over all
    features side by side; `of_each`: one for each of them. `of_output`: the next step reads the
    normed output.
    """

    before_residual: bool = False
    before_fc: bool = False
    of_each: bool = False
    of_output: bool = False


class Eagle3Head:
    """One layer over (token, fused features), each normed; its output is the next feature."""

    def __init__(
        self,
        layer: Layer,
        weights: Weights,
        target: Llama,
        taps: tuple[int, ...],
        norms: Norms,
    ) -> None:
        self.tap_layers = taps
        self._norms = norms
        self._before_fc = [weights["input_norm.weight"]] if norms.before_fc else []
        if norms.of_each:
            self._before_fc = [weights[f"fc_norm.{one}.weight"] for one in range(len(taps))]
        self._layer = layer
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
        if not self._before_fc:
            return self._fc(outcome.taps)
        parts = outcome.taps.chunk(len(self._before_fc), -1)
        normed = [
            self._layer.norm(part, weight)
            for part, weight in zip(parts, self._before_fc, strict=True)
        ]
        return self._fc(torch.cat(normed, -1))

    def forward(
        self, token_ids: Sequence[int], features: Tensor, cache: KVCache, layout: Layout
    ) -> tuple[Tensor, Tensor]:
        target, layer = self._target, self._layer
        embedded = target.embeddings[torch.tensor(token_ids, device=target.device)]
        assert layer.input_norm is not None
        normed = layer.norm(features, self._feature_norm)
        both = torch.cat([layer.norm(embedded, layer.input_norm), normed], -1)
        residual = normed if self._norms.before_residual else features
        x = layer.mlp(layer.attention(both, None, residual, cache, 0, layout))
        cache.length += len(token_ids)
        output = rms_norm(x, self._norm, layer.config.norm_eps)
        return self._logits(output), output if self._norms.of_output else x

    def _logits(self, output: Tensor) -> Tensor:
        """[n, target vocabulary] from normed output [n, hidden]; tokens outside of the draft
        vocabulary get minus infinity."""
        logits = self._head(output)
        if self._target_ids is None:
            return logits
        shape = (len(output), self._target.config.vocabulary)
        return logits.new_full(shape, float("-inf")).index_copy_(1, self._target_ids, logits)


def load_eagle3(folder: Path, target: Llama, *, tree: bool, floor: float = 0.0) -> FeatureDrafter:
    """The head in `folder`. Raises UsageError where it is not an EAGLE-3 head for `target`."""
    weights = {
        name.removeprefix("model.").replace("layers.0.", "midlayer."): weight
        for name, weight in load_weights(folder, target.dtype, target.device).items()
    }
    raw = flat_head(read_json(folder, "config.json"))
    taps = aux_layers(raw, target.config.layers)
    width = len(taps) * target.config.hidden
    if "fc.weight" not in weights or weights["fc.weight"].shape[1] != width:
        raise UsageError(
            f"{folder} has no EAGLE-3 head for a hidden size of {target.config.hidden} and "
            f"{LAYERS_KEY}: train one with `specviz train`, or name another folder with --draft."
        )
    config = read_config(folder)
    if config.layers != 1:
        raise UsageError(f"{folder} has a head of {config.layers} layers: use a vLLM server.")
    rope = Rope(config, target.dtype, target.device)
    layer = Layer(config, weights, "midlayer", rope)
    head = Eagle3Head(layer, weights, target, taps, _norms(raw))
    return FeatureDrafter(head, tree=tree, floor=floor)


def _norms(config: Mapping[str, Any]) -> Norms:
    found = config.get(EAGLE_CONFIG)
    nested = found if isinstance(found, dict) else {}
    return Norms(
        before_residual=bool(config.get("norm_before_residual")),
        before_fc=bool(nested.get("norm_before_fc", config.get("norm_before_fc"))),
        of_each=bool(config.get("fc_norm")),
        of_output=bool(config.get("norm_output")),
    )


def _target_ids(weights: Weights, vocabulary: int) -> Tensor | None:
    """Target id of every draft id (`d2t` holds the differences), None where all are the same."""
    size = weights["lm_head.weight"].shape[0]
    if "d2t" not in weights or (size == vocabulary and not weights["d2t"].any()):
        return None
    return torch.arange(size, device=weights["d2t"].device) + weights["d2t"]

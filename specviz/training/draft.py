"""A draft model: the outer layers of the target, between its embeddings and its matrix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel

from specviz.engines.embedded.checkpoint import load_weights, read_json
from specviz.training.frozen import TABLES, Frozen
from specviz.training.lesson import Lesson, gather_rows

LAYERS = 4


class Draft(nn.Module):
    """The first and the last layers, trained to predict what all of them do.

    Embeddings and vocabulary matrix stay the target's.
    """

    tap_layers: tuple[int, ...] = ()

    def __init__(self, target: Frozen, target_ids: Tensor, source: Path) -> None:
        super().__init__()
        count = min(LAYERS, target.config.layers)
        self.config = _config(source, count)
        self.target_ids = target_ids
        self.rows = (target.matrix[target_ids],)
        # the folder is bfloat16; in it, steps as small as a training's would round to nothing
        self.model = AutoModel.from_config(AutoConfig.for_model(**self.config)).float()
        device = target.embeddings.device
        chosen = kept_layers(target.config.layers, count)
        layers = (f"model.layers.{number}." for number in chosen)
        kept = (*TABLES, *layers)
        weights = load_weights(source, torch.float32, device, lambda name: name.startswith(kept))
        self.model.load_state_dict(_renamed(weights, chosen))
        self.model.to(device)
        self.model.embed_tokens.requires_grad_(False)
        self._matrix = weights.get("lm_head.weight")

    def logits(self, lesson: Lesson, steps: int) -> Iterator[Tensor]:
        """Logits of the token after anchor + 1: a draft model reads its own drafts as any text."""
        hidden = self.model(lesson.ids, use_cache=False).last_hidden_state
        following = lesson.at_step(gather_rows(hidden, lesson.positions(1)), 0)
        yield nn.functional.linear(following, self.rows[0])

    def tensors(self) -> dict[str, Tensor]:
        """As transformers saves the whole model."""
        named = {f"model.{name}": one for name, one in self.model.state_dict().items()}
        tied = bool(self.config.get("tie_word_embeddings"))
        return named if tied or self._matrix is None else named | {"lm_head.weight": self._matrix}


def kept_layers(layers: int, count: int) -> list[int]:
    """Half from the beginning, where tokens become words, half from the end, where the answer is
    decided."""
    first = (count + 1) // 2
    return [*range(first), *range(layers - (count - first), layers)]


def _config(source: Path, count: int) -> dict[str, Any]:
    raw = read_json(source, "config.json")
    raw.pop("layer_types", None)  # one for each layer, all alike in what we run
    raw.pop("transformers_version", None)
    return raw | {"num_hidden_layers": count, "dtype": "bfloat16"}


def _renamed(weights: dict[str, Tensor], chosen: list[int]) -> dict[str, Tensor]:
    """The weights of the chosen layers under their new numbers, and what is outside of layers."""
    number = {str(old): str(new) for new, old in enumerate(chosen)}
    found = {}
    for name, weight in weights.items():
        parts = name.removeprefix("model.").split(".")
        if parts[0] == "layers" and parts[1] in number:
            found[".".join(["layers", number[parts[1]], *parts[2:]])] = weight
        elif parts[0] in ("embed_tokens", "norm"):
            found[".".join(parts)] = weight
    return found

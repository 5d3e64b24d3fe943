"""The three heads as modules.

They share `logits(lesson, steps)`: teacher-forced draft steps. Until its first miss a draft has
seen exactly the tokens of the text, so these are also the logits of greedy drafting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import torch
from torch import Tensor, nn

from specviz.training.frozen import Frozen
from specviz.training.layer import Entries, Layer
from specviz.training.lesson import Lesson, gather_rows

MEDUSA_HEADS = 5


class Head(Protocol):
    """A trainable head. `target_ids` [draft vocabulary] names the tokens of its logits."""

    tap_layers: tuple[int, ...]
    target_ids: Tensor

    def logits(self, lesson: Lesson, steps: int) -> Iterator[Tensor]:
        """Per draft step the logits [valid anchors of the step, draft vocabulary]."""
        ...


class MedusaBlock(nn.Module):
    """x + SiLU(W x), with W = 0 at first, so that the head starts as the target's own."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        matrix = nn.Linear(hidden, hidden, bias=False)
        nn.init.zeros_(matrix.weight)
        self.layers = nn.ModuleList([matrix])

    def forward(self, x: Tensor) -> Tensor:
        for matrix in self.layers:
            x = x + nn.functional.silu(matrix(x))
        return x


class Medusa(nn.Module):
    """A block per draft step before the target's own vocabulary matrix (arXiv 2401.10774, 2.1.1).

    Head k proposes token t+2+k from the hidden state at t alone: neither token t+1 nor the other
    heads' proposals are seen. `frozen` [1] holds the matrix, which is not a parameter.
    """

    tap_layers: tuple[int, ...] = ()

    def __init__(self, target: Frozen, target_ids: Tensor) -> None:
        super().__init__()
        hidden = target.config.hidden
        self.blocks = nn.ModuleList([MedusaBlock(hidden) for _ in range(MEDUSA_HEADS)])
        self.target_ids = target_ids
        self.frozen = (target.matrix[target_ids],)

    def logits(self, lesson: Lesson, steps: int) -> Iterator[Tensor]:
        hidden = gather_rows(lesson.hidden, lesson.anchors).float()
        for step in range(min(steps, MEDUSA_HEADS)):
            block = self.blocks[step]
            yield nn.functional.linear(block(lesson.at_step(hidden, step)), self.frozen[0])


class FeatureHead(nn.Module):
    """The drafting that EAGLE and EAGLE-3 share: a layer over (token, feature) pairs.

    Entry i sees the token at i+1 and the feature at i, at rotary position i, and proposes token
    i+2; its output is the feature for entry i+1 of the next draft step. `frozen` [1] holds the
    target's embeddings, which are not parameters of the head.
    """

    tap_layers: tuple[int, ...] = ()
    target_ids: Tensor
    fc: Fusion

    def __init__(self, target: Frozen, target_ids: Tensor) -> None:
        super().__init__()
        self.target_ids = target_ids
        self.frozen = (target.embeddings,)

    @property
    def layer(self) -> Layer:
        """The one layer."""
        raise NotImplementedError

    def features(self, lesson: Lesson) -> Tensor:
        """The target's features as the layer takes them, [n, length, H]."""
        raise NotImplementedError

    def pair(self, embedded: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        """The layer's attention input and its residual."""
        raise NotImplementedError

    def propose(self, outputs: Tensor) -> Tensor:
        """Logits from the layer's outputs."""
        raise NotImplementedError

    def logits(self, lesson: Lesson, steps: int) -> Iterator[Tensor]:
        for step, outputs in enumerate(self.outputs(lesson, steps)):
            yield self.propose(lesson.at_step(outputs, step))

    def outputs(self, lesson: Lesson, steps: int) -> Iterator[Tensor]:
        """The layer's outputs [n, a, H] of every draft step.

        Step 0 attends to the entries made of the target's features; later steps read their own
        last output and attend to those entries up to their anchor and to their own.
        """
        given, features = self._given(lesson)
        columns = torch.arange(lesson.ids.shape[1], device=lesson.ids.device)
        seen = columns <= lesson.anchors[..., None]
        own: list[Entries] = []
        current = gather_rows(features, lesson.anchors)
        for step in range(steps):
            x, residual = self.pair(self._embed(lesson.tokens_at(step)), current)
            positions = lesson.anchors + step
            if step:
                own.append(self.layer.self_attn.entries(x, positions))
            attended = self.layer.self_attn(x, positions, given, seen, own)
            current = self.layer(attended, residual)
            yield current

    def _given(self, lesson: Lesson) -> tuple[Entries, Tensor]:
        """The entries of the target's features, and these features, at all positions."""
        features = self.features(lesson)
        following = lesson.ids.roll(-1, 1)  # the last column's is wrong, and no anchor sees it
        x, _ = self.pair(self._embed(following), features)
        positions = torch.arange(lesson.ids.shape[1], device=lesson.ids.device)
        return self.layer.self_attn.entries(x, positions[None]), features

    def _embed(self, ids: Tensor) -> Tensor:
        return self.frozen[0][ids]


class Eagle(FeatureHead):
    """EAGLE (arXiv 2401.15077, section 4): predicts the target's next feature, and uses its
    embeddings and its vocabulary matrix."""

    # In training: uniform noise on the target's features, against accumulating error (4.2).
    noise = 0.1

    def __init__(self, target: Frozen, target_ids: Tensor) -> None:
        super().__init__(target, target_ids)
        hidden = target.config.hidden
        # The output takes the place of the target's feature, so features keep their scale.
        self.fc = Fusion((rms(target.embeddings), 1.0), hidden)
        self.layers = nn.ModuleList([Layer(target, hidden)])
        self.rows = (target.matrix[target_ids],)

    @property
    def layer(self) -> Layer:
        layer = self.layers[0]
        assert isinstance(layer, Layer)
        return layer

    def features(self, lesson: Lesson) -> Tensor:
        features = lesson.hidden.float()
        if not self.training:
            return features
        # Seeded by the text, because threads process lessons in no fixed order.
        generator = torch.Generator(features.device).manual_seed(int(lesson.ids.sum()))
        noise = torch.rand(features.shape, generator=generator, device=features.device) * 2 - 1
        return features + noise * self.noise

    def pair(self, embedded: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        fused = self.fc(torch.cat([embedded, features], -1))
        return fused, fused

    def propose(self, outputs: Tensor) -> Tensor:
        return nn.functional.linear(outputs, self.rows[0])


class MidLayer(Layer):
    """EAGLE-3's layer: token and feature are normed separately and concatenated."""

    def __init__(self, target: Frozen) -> None:
        config = target.config
        super().__init__(target, 2 * config.hidden)
        self.input_layernorm = nn.RMSNorm(config.hidden, eps=config.norm_eps)
        self.hidden_norm = nn.RMSNorm(config.hidden, eps=config.norm_eps)

    def normed(self, embedded: Tensor, features: Tensor) -> Tensor:
        """The attention input, [n, a, 2 * H]."""
        return torch.cat([self.input_layernorm(embedded), self.hidden_norm(features)], -1)


class Eagle3(FeatureHead):
    """EAGLE-3 (arXiv 2503.01840, section 3): low, middle and high features, its own vocabulary
    matrix over the frequent tokens, trained on its own outputs."""

    def __init__(self, target: Frozen, target_ids: Tensor, taps: dict[int, float]) -> None:
        """`taps`: the layers whose inputs are read, and the root mean square of each."""
        super().__init__(target, target_ids)
        hidden, eps = target.config.hidden, target.config.norm_eps
        self.tap_layers = tuple(taps)
        self.fc = Fusion(tuple(taps.values()), hidden)
        self.midlayer = MidLayer(target)
        self.norm = nn.RMSNorm(hidden, eps=eps)
        self.norm.weight.data.copy_(target.norm)
        self.lm_head = nn.Linear(hidden, len(target_ids), bias=False)
        self.lm_head.weight.data.copy_(target.matrix[target_ids])

    @property
    def layer(self) -> Layer:
        return self.midlayer

    def features(self, lesson: Lesson) -> Tensor:
        fused: Tensor = self.fc(lesson.taps.float())
        return fused

    def pair(self, embedded: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        return self.midlayer.normed(embedded, features), features

    def propose(self, outputs: Tensor) -> Tensor:
        logits: Tensor = self.lm_head(self.norm(outputs))
        return logits


class Fusion(nn.Module):
    """A projection of concatenated features, which at first passes the last one through.

    Optimizers assume inputs of about unit size, and the target's residual stream is twenty
    to thirty times larger: inputs are divided by `scales`, and the checkpoint's matrix carries the
    division (`weight`).
    """

    scales: Tensor

    def __init__(self, scales: tuple[float, ...], hidden: int) -> None:
        super().__init__()
        self.matrix = nn.Linear(len(scales) * hidden, hidden, bias=False)
        self.register_buffer("scales", torch.tensor(scales).repeat_interleave(hidden))
        nn.init.normal_(self.matrix.weight, std=0.02)
        self.matrix.weight.data[:, -hidden:] += torch.eye(hidden)

    @property
    def weight(self) -> Tensor:
        """The matrix for features that are not divided by the scales, [H, parts * H]."""
        folded: Tensor = self.matrix.weight / self.scales
        return folded

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.matrix(x / self.scales)
        return out.to(x.dtype)


def rms(values: Tensor) -> float:
    """Root mean square."""
    return float(values.detach().float().square().mean().sqrt())

"""The loss of heads and draft models: the distance from the target's distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from specviz.engines.embedded.model import Llama
from specviz.training.answers import Answer
from specviz.training.heads import MEDUSA_HEADS, Eagle, Head, Medusa
from specviz.training.lesson import GROUP_TOKENS, Lesson, gather_rows, groups, prepare
from specviz.training.precision import autocast

Loss = Callable[[Sequence[Answer]], tuple[Tensor, float]]
"""The summed loss of some answers and the weight it is a sum over."""

DRAFT_STEPS = 4
"""Steps of EAGLE-3 on its own outputs (training-time test, arXiv 2503.01840, 3.2)."""
STEP_DECAY = 0.8
"""Later draft steps count less, because they are reached less often: Medusa's constant (arXiv
2401.10774, 2.2.1), and that of the training code of EAGLE-3's authors."""
REGRESSION_WEIGHT = 10.0
"""EAGLE adds feature regression and 0.1 x classification (arXiv 2401.15077, 4.2); the same
ratio."""


def head_loss(head: Head, target: Llama, rows: Tensor) -> Loss:
    """The loss of `head`; `rows` [draft vocabulary, H] are its tokens' in the target's matrix."""
    device = target.device.type

    def part(lesson: Lesson) -> tuple[Tensor, float]:
        return _eagle_part(head, lesson) if isinstance(head, Eagle) else _part(head, lesson)

    def loss(answers: Sequence[Answer]) -> tuple[Tensor, float]:
        total, weight = torch.zeros((), device=device), 0.0
        for group in groups(answers, GROUP_TOKENS[device]):
            lesson = prepare(target, group, head.tap_layers, rows)
            with autocast(device):
                more, counted = part(lesson)
            total, weight = total + more, weight + counted
        return total, weight

    return loss


def _part(head: Head, lesson: Lesson) -> tuple[Tensor, float]:
    """Divergence from the target over the draft steps, weighted by `STEP_DECAY` ** step."""
    steps = MEDUSA_HEADS if isinstance(head, Medusa) else DRAFT_STEPS
    total, weight = torch.zeros((), device=lesson.ids.device), 0.0
    for step, logits in enumerate(head.logits(lesson, steps)):
        factor = STEP_DECAY**step
        total = total + factor * divergence(logits, *lesson.wanted_at(step))
        weight += factor * len(logits)
    return total, weight


def _eagle_part(head: Eagle, lesson: Lesson) -> tuple[Tensor, float]:
    """Divergence of the first draft step, and distance from the target's next feature."""
    outputs = lesson.at_step(next(head.outputs(lesson, 1)), 0)
    total = divergence(head.propose(outputs), *lesson.wanted_at(0))
    return total + REGRESSION_WEIGHT * _feature_distance(outputs, lesson), float(len(outputs))


def divergence(logits: Tensor, wanted: Tensor, entropy: Tensor) -> Tensor:
    """KL divergence, summed over rows: the cross-entropy of `wanted` and `logits` [m, tokens] less
    `entropy` [m]."""
    cross: Tensor = _CrossEntropy.apply(logits, wanted)  # type: ignore[no-untyped-call]
    return cross - entropy.sum()


class _CrossEntropy(torch.autograd.Function):
    """Cross-entropy of `wanted` and `logits` [m, tokens], summed; only the logits have a gradient.

    A row is thousands of floats, and torch's own functions go over all rows a dozen times: a third
    of a training step. Here it is five.
    """

    @staticmethod
    def forward(context: Any, logits: Tensor, wanted: Tensor) -> Tensor:
        logits = logits.float()
        largest, places = logits.max(-1, keepdim=True)
        probs = logits.softmax(-1)
        sizes = largest - probs.gather(-1, places).log()  # logarithms of the sums of exponentials
        context.save_for_backward(probs, wanted)
        # the target's probabilities add up to one in every row
        return sizes.sum() - torch.dot(wanted.flatten(), logits.flatten())

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        probs, wanted = context.saved_tensors
        return (probs - wanted) * gradients[0], None


def _feature_distance(outputs: Tensor, lesson: Lesson) -> Tensor:
    """Smooth L1 between step 0's outputs and the target's features one further, summed over
    anchors and averaged over the feature."""
    following = gather_rows(lesson.hidden, lesson.positions(1))
    actual = lesson.at_step(following, 0).float()
    distance = functional.smooth_l1_loss(outputs.float(), actual, reduction="none")
    return distance.mean(-1).sum()

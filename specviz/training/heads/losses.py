"""The training losses of the heads: the target's distribution at every draft step."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional
from transformers import LlamaForCausalLM

from specviz.training.fit import Loss
from specviz.training.heads.heads import Eagle, Head
from specviz.training.heads.lesson import Lesson, gather_rows, prepare
from specviz.training.precision import autocast
from specviz.training.stream.batches import Batch, documents, groups

# Documents of similar length are grouped to limit padding; this many tokens keep matrix products
# efficient.
GROUP_TOKENS = {"cpu": 1600, "cuda": 16_384}
# Later draft steps count less, because they are reached less often: Medusa's constant (arXiv
# 2401.10774, 2.2.1), and that of the training code of EAGLE-3's authors.
STEP_DECAY = 0.8
# EAGLE adds feature regression and 0.1 x classification (arXiv 2401.15077, 4.2); the same ratio.
REGRESSION_WEIGHT = 10.0


def head_loss(head: Head, target: LlamaForCausalLM, steps: int, device: str) -> Loss:
    """Divergence from the target over `steps` draft steps, weighted by `STEP_DECAY` ** step."""

    def loss(batch: Batch) -> tuple[Tensor, float]:
        total, weight = torch.zeros((), device=device), 0.0
        for group in groups(documents(batch), GROUP_TOKENS[device]):
            lesson = prepare(target, group, head.tap_layers, head.target_ids)
            with autocast(device):
                for step, logits in enumerate(head.logits(lesson, steps)):
                    factor = STEP_DECAY**step
                    total = total + factor * divergence(logits, *lesson.wanted_at(step))
                    weight += factor * len(logits)
        return total, weight

    return loss


def eagle_loss(head: Eagle, target: LlamaForCausalLM, device: str) -> Loss:
    """Divergence of the first draft step, and distance from the target's next feature."""

    def loss(batch: Batch) -> tuple[Tensor, float]:
        total, weight = torch.zeros((), device=device), 0.0
        for group in groups(documents(batch), GROUP_TOKENS[device]):
            lesson = prepare(target, group)
            with autocast(device):
                outputs = lesson.at_step(next(head.outputs(lesson, 1)), 0)
                total = total + divergence(head.propose(outputs), *lesson.wanted_at(0))
            total = total + REGRESSION_WEIGHT * feature_distance(outputs, lesson)
            weight += len(outputs)
        return total, weight

    return loss


def divergence(logits: Tensor, wanted: Tensor, entropy: Tensor) -> Tensor:
    """Sum over rows of the cross-entropy of `wanted` and `logits` [m, tokens] less `entropy` [m].

    The KL divergence where a row of `wanted` sums to 1. Where it lacks the tokens outside of a
    draft vocabulary the row counts less.
    """
    logits = logits.float()
    cross = wanted.sum(-1) * logits.logsumexp(-1) - (wanted * logits).sum(-1)
    return cross.sum() - entropy.sum()


def feature_distance(outputs: Tensor, lesson: Lesson) -> Tensor:
    """Smooth L1 between step 0's outputs and the target's features one further, summed over
    anchors and averaged over the feature."""
    following = gather_rows(lesson.hidden, lesson.positions(1))
    actual = lesson.at_step(following, 0).float()
    distance = functional.smooth_l1_loss(outputs.float(), actual, reduction="none")
    return distance.mean(-1).sum()

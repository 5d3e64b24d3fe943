"""Muon in the number format that this machine multiplies fast.

torch's own always orthogonalises in bfloat16, which a CPU without AVX-512 or AMX emulates: there a
step of the demo target took about a minute, ten times as long as its gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn

from specviz.training.precision import frozen_dtype

# The quintic of https://kellerjordan.github.io/posts/muon/: steepest at zero.
QUINTIC = (3.4445, -4.7750, 2.0315)
ITERATIONS = 5


class Muon(torch.optim.Optimizer):
    """Momentum whose every update is orthogonalised, with AdamW's size of step.

    For matrices only. The update is scaled by 0.2 times the root of the longer side, so that a
    learning rate of AdamW fits (https://arxiv.org/abs/2502.16982, section 2.2).
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        *,
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.05,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """One update of every parameter that has a gradient."""
        assert closure is None, "closures are for line searches"
        for group in self.param_groups:
            for matrices in _by_shape(group["params"]):
                self._update(matrices, group)

    def _update(self, matrices: list[Tensor], group: dict[str, Any]) -> None:
        """Matrices of one shape together: a GPU needs as long for one as for all of a model."""
        rate, momentum = group["lr"], group["momentum"]
        means = [
            self.state[matrix].setdefault("momentum_buffer", torch.zeros_like(matrix))
            for matrix in matrices
        ]
        gradients = [matrix.grad for matrix in matrices if matrix.grad is not None]
        torch._foreach_lerp_(means, gradients, 1 - momentum)
        updates = orthogonalised(torch.stack(torch._foreach_lerp(gradients, means, momentum)))
        torch._foreach_mul_(matrices, 1 - rate * group["weight_decay"])
        size = rate * 0.2 * sqrt(max(matrices[0].shape))
        torch._foreach_add_(matrices, list(updates.unbind()), alpha=-size)


def _by_shape(parameters: Iterable[nn.Parameter]) -> Iterable[list[Tensor]]:
    """Those that have a gradient, by shape."""
    found: dict[torch.Size, list[Tensor]] = {}
    for parameter in parameters:
        if parameter.grad is not None:
            found.setdefault(parameter.shape, []).append(parameter)
    return found.values()


def orthogonalised(matrices: Tensor) -> Tensor:
    """About the nearest orthogonal matrices to those in [..., rows, columns]: all their singular
    values are between 0.7 and 1.2.

    Newton-Schulz iterations; those that are almost zero stay smaller.
    """
    a, b, c = QUINTIC
    tall = matrices.shape[-2] > matrices.shape[-1]
    found = (matrices.mT if tall else matrices).to(frozen_dtype(matrices.device.type))
    found = found / found.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    for _ in range(ITERATIONS):
        gram = found @ found.mT
        found = a * found + (b * gram + c * gram @ gram) @ found
    found = found.to(matrices.dtype)
    result: Tensor = found.mT if tall else found
    return result

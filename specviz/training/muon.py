"""Muon in the number format that this machine multiplies fast.

torch's own always orthogonalises in bfloat16, which a CPU without AVX-512 or AMX emulates: there a
step of the demo target took about a minute, ten times as long as its gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import sqrt

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
            rate, momentum = group["lr"], group["momentum"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                mean = state.setdefault("momentum_buffer", torch.zeros_like(parameter))
                mean.lerp_(parameter.grad, 1 - momentum)
                update = orthogonalised(parameter.grad.lerp(mean, momentum))
                parameter.mul_(1 - rate * group["weight_decay"])
                parameter.add_(update, alpha=-rate * 0.2 * sqrt(max(parameter.shape)))


def orthogonalised(matrix: Tensor) -> Tensor:
    """About the nearest orthogonal matrix: all singular values between 0.7 and 1.2.

    Newton-Schulz iterations; those that are almost zero stay smaller.
    """
    a, b, c = QUINTIC
    wide = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    found = wide.to(frozen_dtype(matrix.device.type))
    found = found / found.norm().clamp(min=1e-7)
    for _ in range(ITERATIONS):
        gram = found @ found.T
        found = torch.addmm(found, torch.addmm(gram, gram, gram, beta=b, alpha=c), found, beta=a)
    found = found.to(matrix.dtype)
    return found.T if matrix.shape[0] > matrix.shape[1] else found

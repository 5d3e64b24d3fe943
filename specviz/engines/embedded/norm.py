"""RMSNorm (Zhang and Sennrich, arXiv 1910.07467)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from specviz.engines.embedded.compiled.library import computes, library


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x / sqrt(mean(x²) + eps) · weight over the last axis.

    Where there are no compiled kernels, it is computed on a CPU as the layer norm of x next to -x,
    whose mean is 0 and whose variance is mean(x²): two operations instead of the eight that torch's
    own rms_norm takes there.
    """
    size = x.shape[-1]
    kernels = library() if computes(x) else None
    if kernels is not None:
        x = x.contiguous()
        out = torch.empty_like(x)
        rows = x.numel() // size
        kernels.rms_norm(x.data_ptr(), weight.data_ptr(), rows, size, eps, out.data_ptr())
        return out
    if x.device.type != "cpu":
        return functional.rms_norm(x, (size,), weight, eps)
    both = functional.layer_norm(torch.cat((x, -x), -1), (2 * size,), eps=eps)
    return both[..., :size] * weight

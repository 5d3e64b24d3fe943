"""Matrix products of the embedded models."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from specviz.engines.embedded.compiled.library import computes
from specviz.engines.embedded.compiled.product import Product
from specviz.engines.embedded.options import MOST_ROWS, SAME_ROWS

ROW_BLOCK = 16
"""A prompt's tokens are padded to a multiple. oneDNN compiles a kernel for every number of rows and
keeps it: with a model of 14 million parameters, 2.5 MiB for every prompt of a new length."""


class Linear:
    """y = x · weightᵀ + bias, for x [n, in] and weight [out, in].

    On a CPU the weight is laid out once in the order in which the compiled kernels (`product`) or
    oneDNN read it: products of a few rows are then about twice as fast
    (`benchmarks/embedded_speed/`). A type for which neither has a layout gets torch's own product.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.product = Product(weight, bias) if computes(weight) else None
        self.nbytes = (self.product or weight).nbytes + (bias.nbytes if bias is not None else 0)
        self.laid_out = weight.device.type == "cpu" and has_layout(weight.dtype)
        if self.product is None:
            self._bias = bias
            self._weight = (
                torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), SAME_ROWS)
                if self.laid_out
                else weight
            )

    def __call__(self, x: Tensor) -> Tensor:
        if self.product is not None:
            return self.product(x)
        if self.laid_out:
            n = x.shape[0]
            if missing := _computed_rows(n, x.dtype) - n:
                x = functional.pad(x, (0, 0, 0, missing))
            out: Tensor = torch.ops.mkldnn._linear_pointwise(
                x, self._weight, self._bias, "none", [], ""
            )
            return out[:n]
        return functional.linear(x, self._weight, self._bias)


def _computed_rows(n: int, dtype: torch.dtype) -> int:
    if n <= SAME_ROWS and dtype is torch.bfloat16:
        return SAME_ROWS
    return n if n <= MOST_ROWS else n + -n % ROW_BLOCK


def has_layout(dtype: torch.dtype) -> bool:
    """Whether oneDNN has a layout for weights of this type on this processor.

    It has one for bfloat16 only where the processor multiplies bfloat16 itself (AVX-512 or
    AVX-NE-CONVERT).
    """
    if not torch.backends.mkldnn.is_available():
        return False
    return dtype is not torch.bfloat16 or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())

"""Matrix products by the compiled kernels."""

from __future__ import annotations

from ctypes import Structure, byref, c_int64, c_void_p

import torch
from torch import Tensor
from torch.nn import functional

from specviz.engines.embedded.compiled.library import WIDTH, loaded

GROUP = 32
"""Outputs whose weights are next to each other."""


class Matrix(Structure):
    """`Matrix` of `kernels.cpp`."""

    _fields_ = (
        ("weights", c_void_p),
        ("bias", c_void_p),
        ("inputs", c_int64),
        ("outputs", c_int64),
        ("halved", c_int64),
    )


class Product:
    """x · weightᵀ + bias, for x [n, in]. Weights that are exact in bfloat16 are kept so."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self._outputs, inputs = weight.shape
        self._packed, self._bias = _packed(weight), bias  # the pointers below are theirs
        self.nbytes = self._packed.nbytes
        halved = self._packed.dtype is torch.bfloat16
        self.matrix = Matrix(self._packed.data_ptr(), pointer(bias), inputs, self._outputs, halved)
        self._linear = loaded().linear

    def __call__(self, x: Tensor) -> Tensor:
        x = x.contiguous()
        out = x.new_empty((x.shape[0], self._outputs))
        self._linear(
            byref(self.matrix), x.data_ptr(), x.shape[0], out.data_ptr(), torch.get_num_threads()
        )
        return out


def pointer(tensor: Tensor | None) -> int | None:
    return None if tensor is None else tensor.data_ptr()


def _packed(weight: Tensor) -> Tensor:
    """[groups, in, GROUP] as `kernels.cpp` reads it, with zeros for missing outputs.

    In bfloat16 two vectors of outputs are interleaved: two values are one word.
    """
    padded = functional.pad(weight, (0, 0, 0, -weight.shape[0] % GROUP))
    packed = padded.view(-1, GROUP, weight.shape[1]).transpose(1, 2)
    halved = packed.bfloat16()
    if not torch.equal(halved.float(), packed):
        return packed.contiguous()
    pairs: Tensor = halved.unflatten(-1, (-1, 2, WIDTH)).transpose(-1, -2)
    return pairs.contiguous()

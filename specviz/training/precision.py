"""In which number format drafts are trained on this machine."""

from __future__ import annotations

from functools import cache

import torch

from specviz.engines.embedded.faster_dtype import Dtype


@cache
def multiplies_bfloat16(device: str) -> bool:
    """Whether bfloat16 is the fast format: always on a GPU, on a CPU where it has AMX.

    The other CPUs are faster in float32: with AVX-512's bfloat16 instructions a product of 512 by
    576 by 1,536 came to 80 GFLOPS of one core of an Intel Xeon, and to 120 in float32; AVX2
    converts every operand, and a step took 20 times as long.
    """
    if device != "cpu":
        return True
    return torch.cpu._is_amx_tile_supported() and has_bfloat16(device)


def has_bfloat16(device: str) -> bool:
    """Whether a product in bfloat16 is computed as such, be it the faster one or not."""
    return device != "cpu" or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def autocast(device: str) -> torch.autocast:
    """bfloat16 matrix products where they are fast; else everything in float32."""
    return torch.autocast(device, dtype=torch.bfloat16, enabled=multiplies_bfloat16(device))


def frozen_dtype(device: str) -> Dtype:
    """The format of the target, which is only read."""
    return "bfloat16" if multiplies_bfloat16(device) else "float32"

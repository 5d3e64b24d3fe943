"""In which number format drafts are trained on this machine."""

from __future__ import annotations

from functools import cache

import torch

from specviz.engines.embedded.faster_dtype import Dtype


@cache
def multiplies_bfloat16(device: str) -> bool:
    """Whether bfloat16 is the fast format: always on a GPU, on a CPU with AVX-512 or AMX.

    A CPU without them (AVX2) converts every operand: a training step of a head took 20 times as
    long as in float32.
    """
    return device != "cpu" or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def autocast(device: str) -> torch.autocast:
    """bfloat16 matrix products where they are fast; else everything in float32."""
    return torch.autocast(device, dtype=torch.bfloat16, enabled=multiplies_bfloat16(device))


def frozen_dtype(device: str) -> Dtype:
    """The format of the target, which is only read."""
    return "bfloat16" if multiplies_bfloat16(device) else "float32"

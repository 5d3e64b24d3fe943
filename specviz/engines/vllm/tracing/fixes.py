"""Two defects of vLLM's CPU build (seen in 0.32.0), repaired only where they are present.

`SPECVIZ_NO_FIXES=1` leaves vLLM as it is. The handshake names the fixes that were needed.
"""

from __future__ import annotations

import os
from typing import Any

SWITCH = "SPECVIZ_NO_FIXES"


def apply_fixes(device: str) -> list[str]:
    """Repair the rejection sampler of a CPU server; the names of the fixes that were applied."""
    if device != "cpu" or os.environ.get(SWITCH) == "1":
        return []
    from vllm.v1.sample import rejection_sampler

    applied = []
    if expands_wrongly(rejection_sampler.expand_batch_to_tokens):
        rejection_sampler.expand_batch_to_tokens = expand_batch_to_tokens
        applied.append("expand_kernel")
    if fails_without_rows(rejection_sampler.apply_top_k_top_p):
        rejection_sampler.apply_sampling_constraints = unless_empty(
            rejection_sampler.apply_sampling_constraints
        )
        applied.append("empty_top_k")
    return applied


def expands_wrongly(expand: Any) -> bool:
    """True if `expand` loses the values of a float tensor.

    The CPU kernel writes into an integer copy that is never copied back, so what comes out is
    uninitialised memory: temperature and top-p of the draft rows are then arbitrary, and sampled
    speculation follows the wrong distribution. Several fresh values, because memory that was just
    freed may by chance hold the right ones.
    """
    import torch

    counts = torch.tensor([2, 5], dtype=torch.int32)
    for value in (0.37, 0.91, 1.73, 0.58):
        batch = torch.tensor([value, 1.0 - value])
        tokens = expand(batch, counts, 5, replace_from=0, replace_to=1)
        if tokens.tolist() != batch.repeat_interleave(torch.tensor([2, 3])).tolist():
            return True
    return False


def expand_batch_to_tokens(
    x: Any, cu_num_tokens: Any, num_tokens: int, replace_from: int = 0, replace_to: int = 0
) -> Any:
    """One value per request [B] to one per draft token [num_tokens], as the kernel should."""
    counts = cu_num_tokens.diff(prepend=cu_num_tokens.new_zeros(1))
    replaced = x.masked_fill(x == replace_from, replace_to)
    return replaced.repeat_interleave(counts, output_size=num_tokens)


def fails_without_rows(apply_top_k_top_p: Any) -> bool:
    """True if top-k alone fails on an empty batch, as after a prefill where nothing was drafted."""
    import torch

    try:
        apply_top_k_top_p(torch.empty(0, 8), torch.empty(0, dtype=torch.int32), None)
    except (IndexError, RuntimeError):
        return True
    return False


def unless_empty(apply_sampling_constraints: Any) -> Any:
    """`apply_sampling_constraints` that returns logits without rows as they are."""

    def apply(logits: Any, cu_num_draft_tokens: Any, sampling_metadata: Any) -> Any:
        if logits.shape[0] == 0:
            return logits
        return apply_sampling_constraints(logits, cu_num_draft_tokens, sampling_metadata)

    return apply

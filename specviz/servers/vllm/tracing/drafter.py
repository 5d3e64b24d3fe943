"""The drafter's own probability of each token that it drafted at temperature 0.

vLLM takes the argmax and forgets the logits. While a traced request is being drafted for, the
drafter's `compute_logits` is watched, and only the rows of traced requests are kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def watched_probs(drafter: Any, rows: list[int], batch_size: int) -> Iterator[list[Any]]:
    """Collect, per drafting step, the probabilities [len(rows), V] of the traced rows.

    Stays empty for drafters without logits (lookups), and for those whose logits are not over the
    target's vocabulary.
    """
    model, seen = getattr(drafter, "model", None), []  # type: Any, list[Any]
    compute = getattr(model, "compute_logits", None)
    if not rows or compute is None or getattr(drafter, "use_heterogeneous_vocab", False):
        yield seen
        return

    def compute_and_keep(*args: Any, **kwargs: Any) -> Any:
        logits = compute(*args, **kwargs)
        for step in logits if isinstance(logits, list) else [logits]:
            seen.extend(_probs_per_step(step, rows, batch_size))
        return logits

    own = vars(model).get("compute_logits")  # usually the class has it, not the object
    model.compute_logits = compute_and_keep
    try:
        yield seen
    finally:
        del model.compute_logits
        if own is not None:
            model.compute_logits = own


def _probs_per_step(logits: Any, rows: list[int], batch_size: int) -> list[Any]:
    """Split [B * steps, V] (request-major, steps > 1 if drafted in parallel) by step.

    One step at a time, because torch's allocator returns large buffers to the system each time.
    """
    steps = logits.view(batch_size, -1, logits.shape[-1])
    wanted = slice(None) if len(rows) == batch_size else rows
    return [steps[wanted, step].float().softmax(-1) for step in range(steps.shape[1])]


def drafted_probs(seen: list[Any], drafted: Any, rows: list[int]) -> list[list[float]]:
    """Per traced row, the probability of each drafted token; `drafted` is [B, K]."""
    import torch

    ids = drafted[rows].long()
    columns = [probs.gather(1, ids[:, step : step + 1]) for step, probs in enumerate(seen)]
    probs: list[list[float]] = torch.cat(columns, dim=1).tolist()
    return probs

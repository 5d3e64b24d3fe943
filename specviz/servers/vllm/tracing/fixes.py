"""Defects of vLLM's CPU build (seen in 0.32.0), each repaired only where it is present.

    expand_kernel   speculation at temperature > 0 samples from the wrong distribution
    empty_top_k     top-k without top-p ends the engine
    seeded_drafts   sampled drafts ignore the request's seed, so a seed does not repeat a run
    seeded_chunks   a seeded request whose prompt is read in chunks ends the engine

`SPECVIZ_NO_FIXES=1` leaves vLLM as it is. The handshake names the fixes that were needed.
"""

from __future__ import annotations

import functools
import os
from types import SimpleNamespace
from typing import Any

SWITCH = "SPECVIZ_NO_FIXES"


def apply_fixes(runner: Any) -> list[str]:
    """Repair what is wrong on a CPU server; the names of the fixes that were applied."""
    if runner.device.type != "cpu" or os.environ.get(SWITCH) == "1":
        return []
    from vllm.v1.sample import rejection_sampler as sampler
    from vllm.v1.spec_decode import llm_base_proposer as proposer

    applied = []
    if expands_wrongly(sampler.expand_batch_to_tokens):
        sampler.expand_batch_to_tokens = expand_batch_to_tokens
        applied.append("expand_kernel")
    if fails_without_rows(sampler.apply_top_k_top_p):
        sampler.apply_sampling_constraints = unless_empty(sampler.apply_sampling_constraints)
        applied.append("empty_top_k")
    if ignores_seeds(proposer.compute_probs_and_sample_next_token):
        proposer.compute_probs_and_sample_next_token = with_seeds(
            proposer.compute_probs_and_sample_next_token
        )
        applied.append("seeded_drafts")
    if cannot_rewind_seeds():
        rewind_by_state(runner)
        applied.append("seeded_chunks")
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


def ignores_seeds(sample_drafts: Any) -> bool:
    """True if sampling a draft leaves the request's own generator untouched."""
    import torch

    generator = torch.Generator().manual_seed(0)
    before = generator.get_state()
    metadata = SimpleNamespace(
        all_greedy=False,
        all_random=True,
        temperature=torch.ones(1),
        generators={0: generator},
    )
    sample_drafts(torch.zeros(1, 8), metadata)
    return bool(torch.equal(before, generator.get_state()))


def with_seeds(sample_drafts: Any) -> Any:
    """Sample drafts, and those of seeded requests again with their own generator."""
    import torch

    @functools.wraps(sample_drafts)
    def sample(logits: Any, metadata: Any, *args: Any, **kwargs: Any) -> Any:
        ids, probs = sample_drafts(logits, metadata, *args, **kwargs)
        if metadata.all_greedy:
            return ids, probs
        for row, generator in metadata.generators.items():
            if metadata.temperature[row] > 0:
                noise = torch.empty_like(probs[row]).exponential_(generator=generator)
                ids[row] = (probs[row] / noise).argmax()
        return ids, probs

    return sample


def cannot_rewind_seeds() -> bool:
    """True if generators have no offset, as on a CPU; vLLM sets it back after a partial prefill."""
    import torch

    try:
        torch.Generator().get_offset()
    except RuntimeError:
        return True
    return False


def rewind_by_state(runner: Any) -> None:
    """Give generators of partial prefills their state back, and keep them from being set back."""
    original_sample, original_bookkeeping = runner._sample, runner._bookkeeping_sync

    def seeds_to_rewind() -> dict[int, Any]:
        batch, discarded = runner.input_batch, runner.discard_request_mask.np
        return {row: seed for row, seed in batch.generators.items() if discarded[row]}

    @functools.wraps(original_sample)
    def sample(*args: Any, **kwargs: Any) -> Any:
        states = [(seed, seed.get_state()) for seed in seeds_to_rewind().values()]
        result = original_sample(*args, **kwargs)
        for seed, state in states:
            seed.set_state(state)
        return result

    @functools.wraps(original_bookkeeping)
    def bookkeeping(*args: Any, **kwargs: Any) -> Any:
        hidden = seeds_to_rewind()
        for row in hidden:
            del runner.input_batch.generators[row]
        try:
            return original_bookkeeping(*args, **kwargs)
        finally:
            runner.input_batch.generators.update(hidden)

    runner._sample, runner._bookkeeping_sync = sample, bookkeeping

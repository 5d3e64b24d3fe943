"""K by batch size, as vLLM takes it: `num_speculative_tokens_per_batch_size`.

A list of [first, last, K] with both ends included, K = 0 for off (vLLM's speculative
configuration, docs.vllm.ai/en/latest/features/spec_decode). A measured concurrency covers the
batch sizes from the one measured before it up to itself: gains fall as batches grow, so that the
smaller batches of a range are never given a K that only larger ones bear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specviz.analysis.k.optimum import Choice, optimum

LARGEST_BATCH = 256
"""vLLM's usual max_num_seqs."""


@dataclass(frozen=True, slots=True)
class Range:
    """Batch sizes `first` to `last` use `k`. `speedup` is the one measured at `measured_at`
    requests at once; `is_guess`: beyond the largest that was measured."""

    first: int
    last: int
    k: int
    speedup: float
    measured_at: int
    is_guess: bool = False


def schedule(
    grid: Mapping[int, Sequence[Choice]], largest_batch: int = LARGEST_BATCH
) -> tuple[Range, ...]:
    """Ranges from measured choices by concurrency; neighbours with one K are joined.

    K is 0 where the best of a concurrency is not faster than plain decoding. Beyond the largest
    concurrency its K goes on. Empty without choices.
    """
    best = {
        concurrency: found.best
        for concurrency in sorted(grid)
        if (found := optimum(grid[concurrency])) is not None and concurrency <= largest_batch
    }
    ranges: list[Range] = []
    first = 1
    for concurrency, choice in best.items():
        k = choice.k if choice.speedup > 1 else 0
        ranges.append(Range(first, concurrency, k, choice.speedup, concurrency))
        first = concurrency + 1
    if ranges and first <= largest_batch:
        last = ranges[-1]
        ranges.append(
            Range(first, largest_batch, last.k, last.speedup, last.measured_at, is_guess=True)
        )
    return tuple(ranges)


def as_vllm(ranges: Sequence[Range]) -> list[list[int]]:
    """[[first, last, K], …], neighbours with one K joined."""
    joined: list[list[int]] = []
    for part in ranges:
        if joined and joined[-1][2] == part.k:
            joined[-1][1] = part.last
        else:
            joined.append([part.first, part.last, part.k])
    return joined

"""K by batch size, as vLLM takes it: `num_speculative_tokens_per_batch_size`.

A list of [first, last, K] with both ends included, K = 0 for off (vLLM's speculative
configuration, docs.vllm.ai/en/latest/features/spec_decode). A measured concurrency covers the
batch sizes from the one measured before it up to itself: gains fall as batches grow, so that the
smaller batches of a range are never given a K that only larger ones bear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from specviz.analysis.k.optimum import Optimum

LARGEST_BATCH = 256
"""vLLM's usual max_num_seqs."""


@dataclass(frozen=True, slots=True)
class Range:
    """Batch sizes `first` to `last` use `k`. `speedup` is the one measured at `measured_at`
    requests at once, `shown` has its interval and verdict; `is_guess`: beyond the largest that
    was measured."""

    first: int
    last: int
    k: int
    speedup: float
    measured_at: int
    is_guess: bool = False
    shown: str = field(default="", compare=False)


def schedule(grid: Mapping[int, Optimum], largest_batch: int = LARGEST_BATCH) -> tuple[Range, ...]:
    """Ranges from the K to use by concurrency; neighbours with one K are joined.

    K is 0 where it is not faster than plain decoding beyond noise. Beyond the largest concurrency
    its K goes on. Empty without a concurrency.
    """
    ranges: list[Range] = []
    first = 1
    for concurrency, found in sorted(grid.items()):
        if concurrency > largest_batch:
            break
        k = found.best.k if found.is_worth_it else 0
        shown = f"{found.speedup_text}, {found.verdict_text}"
        ranges.append(Range(first, concurrency, k, found.best.speedup, concurrency, shown=shown))
        first = concurrency + 1
    if ranges and first <= largest_batch:
        last = ranges[-1]
        ranges.append(replace(last, first=first, last=largest_batch, is_guess=True))
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

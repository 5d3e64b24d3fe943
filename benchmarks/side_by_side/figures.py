"""The figures of both clients, by the same definitions."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from specviz.sample import Sample


@dataclass(frozen=True)
class Figures:
    """One client's pass over the prompts. Draft and accepted tokens: summed over its requests
    (specviz), or from the server's counters (vLLM)."""

    tpot_mean_ms: float
    tpot_median_ms: float
    e2el_mean_ms: float
    e2el_median_ms: float
    tokens_per_s: float
    output_tokens: int
    draft_tokens: int
    accepted_tokens: int


@dataclass(frozen=True)
class Round:
    """Both clients at one load, one after the other. `counted`: draft and accepted tokens by the
    server's counters over specviz's pass. `different`: answers whose texts differ."""

    concurrency: int
    specviz: Figures
    vllm: Figures
    counted: tuple[int, int]
    different: int

    def ratio(self, figure: str) -> float:
        return float(getattr(self.specviz, figure) / getattr(self.vllm, figure))


def figures(
    e2el_ms: Sequence[float], tpot_ms: Sequence[float], tokens: int, wall_s: float, **counts: int
) -> Figures:
    return Figures(
        statistics.fmean(tpot_ms),
        statistics.median(tpot_ms),
        statistics.fmean(e2el_ms),
        statistics.median(e2el_ms),
        tokens / wall_s,
        tokens,
        **counts,
    )


def tpot_ms(sample: Sample) -> float | None:
    """Time per output token after the first chunk; None if there was only one chunk."""
    rest = sum(sample.chunk_tokens[1:])
    return (sample.e2el_ms - sample.ttft_ms) / rest if rest else None


def figures_of_vllm(saved: dict[str, Any]) -> Figures:
    """From its result file; times there are in seconds."""
    requests = list(zip(saved["latencies"], saved["ttfts"], saved["output_lens"], strict=True))
    return figures(
        [1000 * latency for latency, _, _ in requests],
        [1000 * (latency - ttft) / (count - 1) for latency, ttft, count in requests if count > 1],
        saved["total_output_tokens"],
        saved["duration"],
        draft_tokens=saved["spec_decode_draft_tokens"],
        accepted_tokens=saved["spec_decode_accepted_tokens"],
    )

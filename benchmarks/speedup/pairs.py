"""Prompts answered on both arms: their speed-up with its interval, and acceptance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from specviz.analysis.interval import ratio_interval
from specviz.analysis.metrics import Metrics, summarise
from specviz.trace import Trace


@dataclass(frozen=True)
class Pair:
    """One prompt on both arms."""

    category: str
    baseline: Trace
    method: Trace

    @property
    def equal(self) -> bool:
        return self.baseline.token_ids == self.method.token_ids


def speedup(pairs: Sequence[Pair]) -> float:
    """Ratio of the total times, baseline over method."""
    return sum(_time(pair.baseline) for pair in pairs) / sum(_time(pair.method) for pair in pairs)


def interval(pairs: Sequence[Pair]) -> tuple[float | None, float | None]:
    """The 95 % interval over prompts; None for too few."""
    totals = np.array([[_time(pair.method), 1.0, _time(pair.baseline), 1.0] for pair in pairs])
    return ratio_interval(totals, len(pairs)) or (None, None)


def _time(trace: Trace) -> float:
    assert trace.e2el_ms is not None
    return trace.e2el_ms


@dataclass(frozen=True)
class Row:
    """One category, or all. Acceptance is token-weighted over all prompts; the speed-up is of the
    `equal` ones, None if there are none."""

    category: str
    prompts: int
    equal: int
    acceptance: float
    tokens_per_step: float
    speedup: float | None
    low: float | None
    high: float | None


def row(name: str, pairs: Sequence[Pair]) -> Row:
    metrics: list[Metrics] = [summarise(pair.method) for pair in pairs]
    drafted = sum(one.num_draft_tokens or 0 for one in metrics)
    accepted = sum(one.num_accepted_tokens or 0 for one in metrics)
    tokens = sum(one.output_tokens or 0 for one in metrics)
    steps = sum(one.num_steps for one in metrics)
    equal = [pair for pair in pairs if pair.equal]
    low, high = interval(equal) if equal else (None, None)
    return Row(
        name,
        len(pairs),
        len(equal),
        accepted / max(drafted, 1),
        tokens / max(steps, 1),
        speedup(equal) if equal else None,
        low,
        high,
    )

"""The mean step of timed requests, which have sums instead of steps."""

from __future__ import annotations

import pandas as pd

from specviz.analysis.step_time.step_time import StepTime, StepTotals, mean_step
from specviz.sample import LaneTimes


def mean_step_of(requests: pd.DataFrame) -> StepTime | None:
    """Over finished requests: those that report how long they drafted and verified, None without.

    Columns: `num_steps`, `output_tokens` (NA: unknown), `first_tokens` (tokens of the first step),
    `ttft_ms`, `e2el_ms` and those of `LaneTimes` (NaN: not reported).
    """
    timed = requests[requests["verify_ms"].notna() & requests["output_tokens"].notna()]
    if timed.empty:
        return None
    lanes = LaneTimes(
        float(timed["draft_ms"].sum()),
        float(timed["overlapped_draft_ms"].sum()),
        float(timed["verify_ms"].sum()),
    )
    totals = StepTotals(
        num_steps=int((timed["num_steps"] - 1).sum()),
        num_tokens=int((timed["output_tokens"] - timed["first_tokens"]).sum()),
        spent_ms=float((timed["e2el_ms"] - timed["ttft_ms"]).sum()),
        lanes=lanes,
    )
    return mean_step([totals])


def tpot_of(requests: pd.DataFrame) -> float | None:
    """Time per output token after the first chunk over all finished requests, ms; longer answers
    weigh more. None where no request reports it."""
    known = requests[requests["tpot_ms"] > 0]
    spent_ms = known["e2el_ms"] - known["ttft_ms"]
    tokens = float((spent_ms / known["tpot_ms"]).sum())
    return float(spent_ms.sum()) / tokens if tokens else None

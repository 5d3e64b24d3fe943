"""Speed-up of an arm over its baseline: paired per prompt, resampled by prompt.

Requests of one prompt, and steps of one request, are correlated: an interval that resampled them
would be too narrow. So everything here has one row per prompt.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from specviz.analysis.benchmark.results import Speedup

PROMPTS_NEEDED = 5
"""Fewer prompts give no interval."""
RESAMPLES = 2000
SEED = 20
TIME, TIME_PER_TOKEN = "time", "time per token"

_AT_ONCE = 1_000_000
"""Draws held in memory at a time."""


def speedup(pairs: pd.DataFrame, temperature: float, seed: int = SEED) -> Speedup | None:
    """Baseline over method, a ratio of totals over prompts, with its 95 % percentile interval.

    `pairs` are prompts as `paired` gives them. At temperature 0 only those count whose answers
    have equal lengths; above it, and where fewer than half have, time per output token is
    compared. None: no prompt can be compared.
    """
    basis, chosen = _comparable(pairs, temperature)
    if chosen.empty:
        return None
    low, high = None, None
    totals = _per_prompt(chosen, basis)
    if len(chosen) >= PROMPTS_NEEDED:
        low, high = interval(totals, seed)
    ratio = float(_ratio(totals.sum(axis=0)))
    return Speedup(ratio, low, high, len(chosen), len(pairs) - len(chosen), basis)


def measured_alongside(baseline: pd.DataFrame, method: pd.DataFrame) -> pd.DataFrame:
    """The baseline's requests measured side by side with the method's, or all if none were."""
    same = baseline[baseline["server_group"].isin(method["server_group"])]
    return baseline if same.empty else same


def paired(method: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    """One row per prompt that either arm answered, indexed by prompt_index.

    Both are finished requests at the same temperature and load. `category` is the prompt's;
    `method_ms`, `baseline_ms`, `method_tokens`, `baseline_tokens`: repetitions averaged, turns
    summed. `both`: every turn was answered by both arms. `known`: and every length is known.
    `equal`: and all repetitions of both arms have one length, turn by turn.
    """
    turns = _turns(method).add_suffix("_m").join(_turns(baseline).add_suffix("_b"), how="outer")
    both = turns["e2el_ms_m"].notna() & turns["e2el_ms_b"].notna()
    shortest = turns[["shortest_m", "shortest_b"]]
    longest = turns[["longest_m", "longest_b"]]
    known = both & shortest.notna().all(axis=1)
    prompts = pd.DataFrame(
        {
            "method_ms": turns["e2el_ms_m"],
            "baseline_ms": turns["e2el_ms_b"],
            "method_tokens": turns["tokens_m"],
            "baseline_tokens": turns["tokens_b"],
            "both": both,
            "known": known,
            "equal": known & (shortest.min(axis=1) == longest.max(axis=1)),
        }
    ).groupby(level="prompt_index")
    figures = prompts[["method_ms", "baseline_ms", "method_tokens", "baseline_tokens"]].sum()
    every = prompts[["both", "known", "equal"]].all()
    asked = pd.concat(
        [method[["prompt_index", "category"]], baseline[["prompt_index", "category"]]]
    )
    return figures.join(every).join(asked.groupby("prompt_index")["category"].first())


def interval(totals: NDArray[np.float64], seed: int) -> tuple[float, float]:
    """95 % percentile bootstrap interval (Efron 1979) of the ratio; totals: [prompts, 4]."""
    rng = np.random.default_rng(seed)
    prompts = len(totals)
    rows = max(1, _AT_ONCE // prompts)
    ratios = [
        _ratio(_drawn(rng, min(rows, RESAMPLES - start), prompts) @ totals)
        for start in range(0, RESAMPLES, rows)
    ]
    low, high = np.quantile(np.concatenate(ratios), [0.025, 0.975])
    return float(low), float(high)


def _drawn(rng: np.random.Generator, rows: int, prompts: int) -> NDArray[np.float64]:
    """How often each prompt is drawn in each resample: [rows, prompts], rows sum to prompts."""
    draws = rng.integers(0, prompts, (rows, prompts)) + np.arange(rows)[:, None] * prompts
    counts = np.bincount(draws.ravel(), minlength=rows * prompts).astype(np.float64)
    return counts.reshape(rows, prompts)


def _comparable(pairs: pd.DataFrame, temperature: float) -> tuple[str, pd.DataFrame]:
    equal = pairs[pairs["equal"]]
    if temperature == 0 and 2 * len(equal) >= pairs["both"].sum():
        return TIME, equal
    spoke = (pairs["method_tokens"] > 0) & (pairs["baseline_tokens"] > 0)
    return TIME_PER_TOKEN, pairs[pairs["known"] & spoke]


def _per_prompt(pairs: pd.DataFrame, basis: str) -> NDArray[np.float64]:
    """[prompts, 4]: times of baseline and method, and what each time is per."""
    counted = pairs[["baseline_ms", "method_ms", "baseline_tokens", "method_tokens"]]
    totals: NDArray[np.float64] = counted.to_numpy(dtype=float, copy=True)
    if basis == TIME:
        totals[:, 2:] = 1.0
    return totals


def _ratio(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """[..., 4] to [...]: time over tokens of the baseline, over that of the method."""
    baseline_ms, method_ms, baseline_per, method_per = np.moveaxis(totals, -1, 0)
    ratio: NDArray[np.float64] = (baseline_ms / method_ms) * (method_per / baseline_per)
    return ratio


def _turns(samples: pd.DataFrame) -> pd.DataFrame:
    """One row per (prompt_index, turn), the mean over repetitions; lengths NaN where unknown."""
    tokens = samples["output_tokens"].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    turns = (
        samples[["prompt_index", "turn", "e2el_ms"]]
        .assign(tokens=tokens, known=~np.isnan(tokens))
        .groupby(["prompt_index", "turn"])
        .agg(
            e2el_ms=("e2el_ms", "mean"),
            tokens=("tokens", "mean"),
            shortest=("tokens", "min"),
            longest=("tokens", "max"),
            known=("known", "all"),
        )
    )
    turns.loc[~turns["known"], ["shortest", "longest"]] = np.nan
    return turns.drop(columns="known")

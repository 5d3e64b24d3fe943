"""Speed-up of an arm over its baseline, paired per prompt.

Requests of one prompt, and steps of one request, are correlated: an interval over them would be too
narrow. So everything here has one row per prompt, and prompts that shared a block count as one
(`analysis/interval.py`).
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from specviz.analysis.benchmark.results import Speedup
from specviz.analysis.interval import (
    PROMPTS_NEEDED,
    by_unit,
    ratio_replicates,
    units_of,
)
from specviz.analysis.verdict import more_prompts

TIME, TIME_PER_TOKEN = "time", "time per token"


def speedup(pairs: pd.DataFrame, temperature: float) -> Speedup | None:
    """Baseline over method, a ratio of totals over prompts, with its 95 % interval.

    `pairs` are prompts as `paired` gives them. At temperature 0 only those count whose answers
    have equal lengths; above it, and where fewer than half have, time per output token is
    compared. None: no prompt can be compared.
    """
    basis, chosen = comparable(pairs, temperature)
    if chosen.empty:
        return None
    totals = by_unit(per_prompt(chosen, basis), chosen["unit"].to_numpy())
    sums = totals.sum(axis=0)
    ratio = float((sums[2] / sums[0]) * (sums[1] / sums[3]))
    prompts, blocks = len(chosen), len(totals)
    low, high, more = None, None, None
    if prompts >= PROMPTS_NEEDED:
        replicates = ratio_replicates(totals)
        (ends,) = replicates.ends
        if ends is not None:
            low, high = float(np.exp(ends[0])), float(np.exp(ends[1]))
            more = more_prompts(ratio, low, high, prompts, replicates.freedom)
    return Speedup(ratio, low, high, prompts, len(pairs) - prompts, basis, blocks, more)


def measured_alongside(baseline: pd.DataFrame, method: pd.DataFrame) -> pd.DataFrame:
    """The baseline's requests measured side by side with the method's, or all if none were."""
    same = baseline[baseline["server_group"].isin(method["server_group"])]
    return baseline if same.empty else same


def paired(method: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    """One row per prompt that either arm answered, indexed by prompt_index.

    Both are finished requests at the same temperature and load. `category` is the prompt's;
    `method_ms`, `baseline_ms`, `method_tokens`, `baseline_tokens`: repetitions averaged, turns
    summed. `both`: every turn was answered by both arms. `known`: and every length is known.
    `equal`: and all repetitions of both arms have one length, turn by turn. `unit`: the same for
    prompts that shared a block in either arm.
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
    found = figures.join(every).join(asked.groupby("prompt_index")["category"].first())
    return found.assign(unit=found.index.map(_units(method, baseline)))


def _units(*arms: pd.DataFrame) -> dict[Hashable, int]:
    rows = pd.concat([arm[["prompt_index", "round_id", "block"]] for arm in arms])
    blocks = rows.drop_duplicates().itertuples(index=False)
    return units_of((row.prompt_index, (row.round_id, row.block)) for row in blocks)


def comparable(pairs: pd.DataFrame, temperature: float) -> tuple[str, pd.DataFrame]:
    """What is compared, and the prompts that can be."""
    equal = pairs[pairs["equal"]]
    if temperature == 0 and 2 * len(equal) >= pairs["both"].sum():
        return TIME, equal
    spoke = (pairs["method_tokens"] > 0) & (pairs["baseline_tokens"] > 0)
    return TIME_PER_TOKEN, pairs[pairs["known"] & spoke]


def per_prompt(pairs: pd.DataFrame, basis: str) -> NDArray[np.float64]:
    """[prompts, 4]: time of the method, what it is per, and both of the baseline."""
    counted = pairs[["method_ms", "method_tokens", "baseline_ms", "baseline_tokens"]]
    totals: NDArray[np.float64] = counted.to_numpy(dtype=float, copy=True)
    if basis == TIME:
        totals[:, [1, 3]] = 1.0
    return totals


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

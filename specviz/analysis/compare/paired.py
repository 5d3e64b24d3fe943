"""What changed between two runs on the same prompts, with intervals and a verdict in words.

A figure is a ratio of totals over the prompts that both runs answered (repetitions averaged, the
turns of a conversation summed), so long answers weigh as much as they take. Intervals are over
prompts, or blocks where prompts shared one (`analysis/interval.py`). Runs at different times differ
by drift too, which prompts do not show: where both were repeated, what their repetitions differ by
is in the interval of times.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from specviz.analysis.interval import (
    PROMPTS_NEEDED,
    Array,
    Replicates,
    by_unit,
    ratio_replicates,
    units_of,
)
from specviz.analysis.verdict import more_prompts, no_interval_text, undecided_text

NO_DIFFERENCE = "no difference"
WITHIN_NOISE = "within noise"
"""How a verdict begins where the interval includes no change at all."""
BETTER, WORSE = "better", "worse"


@dataclass(frozen=True, slots=True)
class Figure:
    """Something that both runs have: `over` / `per`, columns of requests (see `changes`).

    `same_length`: only prompts count whose answers are equally long in both runs.
    """

    name: str
    unit: str
    over: str
    per: str
    less_is_better: bool = False
    is_time: bool = False
    same_length: bool = False


FIGURES = (
    Figure("TPOT", "ms/token", "decode_ms", "later_tokens", True, True),
    Figure("Speed of one stream", "tok/s", "output_tokens", "e2el_s", False, True),
    Figure("TTFT", "ms", "ttft_ms", "one", True, True),
    Figure("E2E", "ms", "e2el_ms", "one", True, True, True),
    Figure("Acceptance rate", "", "num_accepted_tokens", "num_draft_tokens"),
    Figure("Tokens per step", "tok/step", "output_tokens", "num_steps"),
)


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of both runs over `prompts` shared prompts, and other / reference.

    `low`, `high`: 95 % interval of `ratio`, None for fewer than five prompts, for one block, or
    where one prompt has all there is. `blocks`: what the interval counts as independent.
    `more_prompts` would decide it; None: too many, or nobody knows. `has_drift`: repetitions
    widened it. `left_out`: shared prompts that this figure cannot be computed for, or whose
    answers differ in length where they must not. `ratio` is None where the reference is 0.
    """

    figure: Figure
    reference: float
    other: float
    ratio: float | None
    low: float | None
    high: float | None
    prompts: int
    left_out: int
    blocks: int | None = None
    more_prompts: int | None = None
    has_drift: bool = False

    @property
    def difference(self) -> float:
        """other - reference, in the figure's unit."""
        return self.other - self.reference

    @property
    def verdict(self) -> str:
        """In words, whether the interval leaves room for no change at all."""
        if self.reference == self.other and self.low in (None, 1.0) and self.high in (None, 1.0):
            return NO_DIFFERENCE
        if self.ratio is None or self.low is None or self.high is None:
            return no_interval_text(self.prompts, self.blocks)
        if self.low <= 1.0 <= self.high:
            return f"{WITHIN_NOISE}: {undecided_text(self.more_prompts)}"
        return BETTER if (self.ratio < 1.0) is self.figure.less_is_better else WORSE


def changes(
    reference: pd.DataFrame, other: pd.DataFrame, figures: Sequence[Figure] = FIGURES
) -> list[Change]:
    """What changed, figure by figure; those that either run lacks are left out.

    Both frames have one row per finished request, NaN where unknown: `prompt_key` (what was asked,
    earlier turns included), `conversation` (the prompt it belongs to: what is resampled),
    `ttft_ms`, `tpot_ms`, `e2el_ms`, `output_tokens`, `num_steps`, `num_draft_tokens`,
    `num_accepted_tokens`; of benchmarks also `block` (of requests that ran together) and
    `repetition`, None or absent where there are none.
    """
    first, second = _measured(reference), _measured(other)
    shared = len(set(first["conversation"]) & set(second["conversation"]))
    found = (_change(figure, first, second, shared) for figure in figures)
    return [change for change in found if change is not None]


def shared_prompts(frames: Sequence[pd.DataFrame]) -> list[str]:
    """Keys of the prompts that all of them answered, in the order of the first."""
    if not frames:
        return []
    keys = set.intersection(*(set(frame["prompt_key"]) for frame in frames))
    return [key for key in dict.fromkeys(frames[0]["prompt_key"]) if key in keys]


def _measured(requests: pd.DataFrame) -> pd.DataFrame:
    """With the columns that figures are made of."""
    known = requests.assign(one=1.0, e2el_s=requests["e2el_ms"] / 1000)
    decode_ms = requests["e2el_ms"] - requests["ttft_ms"]
    later = decode_ms / requests["tpot_ms"].where(requests["tpot_ms"] > 0)
    return known.assign(decode_ms=decode_ms, later_tokens=later)


def _change(
    figure: Figure, reference: pd.DataFrame, other: pd.DataFrame, shared: int
) -> Change | None:
    totals, prompts = _per_unit(figure, reference, other)
    if not prompts:
        return None
    sums = totals.sum(axis=0)
    level, other_level = float(sums[0] / sums[1]), float(sums[2] / sums[3])
    ratio = other_level / level if level > 0 else None
    left_out = shared - prompts
    if ratio is None or prompts < PROMPTS_NEEDED:
        return Change(figure, level, other_level, ratio, None, None, prompts, left_out, len(totals))
    replicates = ratio_replicates(totals)
    drift = _drift(figure, reference, other) if figure.is_time else 0.0
    replicates = Replicates(replicates.values, replicates.shares, np.array([drift]))
    (ends,) = replicates.ends
    if ends is None:
        return Change(figure, level, other_level, ratio, None, None, prompts, left_out, len(totals))
    low, high = float(np.exp(ends[0])), float(np.exp(ends[1]))
    more = None if drift else more_prompts(ratio, low, high, prompts, replicates.freedom)
    return Change(
        figure,
        level,
        other_level,
        ratio,
        low,
        high,
        prompts,
        left_out,
        len(totals),
        more,
        drift > 0,
    )


def _drift(figure: Figure, reference: pd.DataFrame, other: pd.DataFrame) -> float:
    """Standard error of log(other / reference) by what the repetitions of either run differ by; 0
    where one of them has fewer than two."""
    parts = [_between_repetitions(figure, run) for run in (reference, other)]
    return float(np.sqrt(sum(parts))) if all(part > 0 for part in parts) else 0.0


def _between_repetitions(figure: Figure, run: pd.DataFrame) -> float:
    """Variance of the mean logarithm of a figure over the repetitions of a run; 0: not known."""
    if "repetition" not in run or run["repetition"].isna().any():
        return 0.0
    known = run[(run[figure.per] > 0) & run[figure.over].notna()]
    every = known.groupby("prompt_key")["repetition"].nunique()
    count = known["repetition"].nunique()
    whole = known[known["prompt_key"].isin(every.index[every == count])]
    if count < 2 or whole.empty:
        return 0.0
    sums = whole.groupby("repetition")[[figure.over, figure.per]].sum()
    logs = np.log(sums[figure.over].to_numpy(dtype=float) / sums[figure.per].to_numpy(dtype=float))
    return float(logs.var(ddof=1)) / int(count)


def _per_unit(figure: Figure, reference: pd.DataFrame, other: pd.DataFrame) -> tuple[Array, int]:
    """[units, 4]: `over` and `per` of the reference and of the other run; and how many prompts."""
    first, second = _answers(figure, reference), _answers(figure, other)
    both = first.add_suffix("_reference").join(second.add_suffix("_other"), how="inner")
    if figure.same_length:
        lengths = both.filter(regex="^(shortest|longest)_")
        both = both[lengths.notna().all(axis=1) & (lengths.nunique(axis=1) == 1)]
    columns = ["over_reference", "per_reference", "over_other", "per_other"]
    prompts = both[columns].groupby(level="conversation").sum()
    unit_of = conversation_units([reference, other])
    totals = prompts.to_numpy(dtype=float, copy=True)
    return by_unit(totals, [unit_of[prompt] for prompt in prompts.index]), len(prompts)


def conversation_units(runs: Sequence[pd.DataFrame]) -> Mapping[Hashable, int]:
    """The unit of each conversation: one for those that shared a block in any of the runs."""
    together: list[tuple[Hashable, Hashable]] = []
    for run in runs:
        alone = [("alone", conversation) for conversation in run["conversation"]]
        blocks = run["block"] if "block" in run else [None] * len(run)
        own = [block or other for block, other in zip(blocks, alone, strict=True)]
        together += zip(run["conversation"], own, strict=True)
    return units_of(dict.fromkeys(together))


def _answers(figure: Figure, requests: pd.DataFrame) -> pd.DataFrame:
    """One row per (conversation, prompt_key): repetitions averaged; unknown ones left out."""
    known = pd.DataFrame(
        {
            "conversation": requests["conversation"],
            "prompt_key": requests["prompt_key"],
            "over": requests[figure.over],
            "per": requests[figure.per],
            "length": requests["output_tokens"] if figure.same_length else 0,
        }
    )
    known = known[(known["per"] > 0) & known["over"].notna()]
    return known.groupby(["conversation", "prompt_key"]).agg(
        over=("over", "mean"),
        per=("per", "mean"),
        shortest=("length", "min"),
        longest=("length", "max"),
    )

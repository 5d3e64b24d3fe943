"""Throughput: what came out over the wall time in which it was measured."""

from __future__ import annotations

from collections import defaultdict

import pandas as pd

BLOCK = ["round_id", "block"]
"""What names a block."""


def wall_s(samples: pd.DataFrame) -> float:
    """Measured wall time in s: each block from its first request sent to its last token received.

    The pauses between blocks, in which other arms ran, do not count.
    """
    return float(wall_s_by_block(samples).sum())


def wall_s_by_block(samples: pd.DataFrame) -> pd.Series:
    """The same of each block, indexed by round and block."""
    ends = samples.assign(end_ms=samples["sent_ms"] + samples["e2el_ms"])
    blocks = ends.groupby(BLOCK, dropna=False).agg({"sent_ms": "min", "end_ms": "max"})
    return (blocks["end_ms"] - blocks["sent_ms"]) / 1000


def wall_s_by_category(samples: pd.DataFrame) -> dict[str, float]:
    """Wall time in s of each category whose requests shared no block with others'.

    `samples` are the finished requests of all categories.
    """
    categories = samples.groupby(BLOCK, dropna=False)["category"].unique()
    alone: defaultdict[str, float] = defaultdict(float)
    mixed: set[str] = set()
    for found, seconds in zip(categories, wall_s_by_block(samples), strict=True):
        if len(found) == 1:
            alone[found[0]] += float(seconds)
        else:
            mixed.update(found)
    return {category: seconds for category, seconds in alone.items() if category not in mixed}


def output_tokens(samples: pd.DataFrame) -> int | None:
    """Sum over the requests; None where one of them is not known, so that no sum is too small."""
    tokens = samples["output_tokens"]
    return None if tokens.isna().any() else int(tokens.sum())


def per_second(count: int | None, seconds: float | None) -> float | None:
    """None where either is not known or no time passed."""
    return count / seconds if count is not None and seconds else None

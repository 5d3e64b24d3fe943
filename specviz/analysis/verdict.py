"""What a comparison says, in words: faster, slower, or how many more prompts would decide it."""

from __future__ import annotations

from enum import StrEnum
from math import ceil, log, log10

from specviz.analysis.interval import PROMPTS_NEEDED, student_quantile
from specviz.analysis.text import counted

MOST_PROMPTS = 1000
"""A larger number of further prompts is not worked out: nobody would run them for this."""
POWER = 0.8
"""How often that many prompts find the difference, if it is what it seems now."""


class Verdict(StrEnum):
    """Of a speed-up over plain decoding: whether its interval excludes 1."""

    FASTER = "faster"
    SLOWER = "slower"
    UNDECIDED = "undecided"


def verdict_of(low: float | None, high: float | None) -> Verdict:
    """Undecided where 1 is in the interval, or where there is none."""
    if low is not None and low > 1:
        return Verdict.FASTER
    if high is not None and high < 1:
        return Verdict.SLOWER
    return Verdict.UNDECIDED


def gain_text(ratio: float, low: float | None, high: float | None) -> str:
    """A speed-up as a headline has it: `1.52× faster output (1.32 to 1.74)`, or `0.80× output
    speed (0.71 to 0.90)`.

    The interval comes first where it includes 1: `0.94× to 1.12× output speed (estimate 1.02×)`.
    """
    if low is None or high is None:
        return f"{ratio:.2f}× output speed, no interval"
    if verdict_of(low, high) is Verdict.UNDECIDED:
        return f"{low:.2f}× to {high:.2f}× output speed (estimate {ratio:.2f}×)"
    what = "faster output" if ratio > 1 else "output speed"
    return f"{ratio:.2f}× {what} ({low:.2f} to {high:.2f})"


def more_prompts(ratio: float, low: float, high: float, prompts: int, freedom: float) -> int | None:
    """How many further prompts would move the interval off 1; 0 where it is off 1 already.

    A width falls with the square root of the prompts. None: more than `MOST_PROMPTS`.
    """
    if verdict_of(low, high) is not Verdict.UNDECIDED:
        return 0
    effect = abs(log(ratio))
    error = log(high / low) / 2 / student_quantile(0.975, freedom)
    for total in _sizes(prompts):
        reach = student_quantile(0.975, _freedom(freedom, total / prompts))
        reach += student_quantile(POWER, _freedom(freedom, total / prompts))
        if reach * error * (prompts / total) ** 0.5 <= effect:
            return _rounded(total - prompts)
    return None


def undecided_text(more: int | None) -> str:
    """`not distinguishable; about 40 more prompts would decide it`."""
    count = f"more than {MOST_PROMPTS:,}" if more is None else f"about {more:,}"
    return f"not distinguishable; {count} more prompts would decide it"


def no_interval_text(prompts: int, blocks: int | None) -> str:
    """Why there is no interval, and so no verdict."""
    if prompts < PROMPTS_NEEDED:
        return f"not decided: {counted(prompts, 'prompt')}, {PROMPTS_NEEDED} needed"
    if blocks == 1:
        return "not decided: all prompts ran in one block"
    return "not decided: no interval"


def _sizes(prompts: int) -> list[int]:
    """Numbers of prompts to try, each about a twentieth more than the one before."""
    sizes, size = [], prompts
    while size - prompts < MOST_PROMPTS:
        size = max(size + 1, ceil(1.05 * size))
        sizes.append(min(size, prompts + MOST_PROMPTS))
    return sizes


def _freedom(freedom: float, times: float) -> float:
    return round((freedom + 1) * times - 1, 1)


def _rounded(count: int) -> int:
    """One significant digit, two from 100 on: upwards, because fewer would not do."""
    place: int = 10 ** max(0, int(log10(count)) - (1 if count >= 100 else 0))
    return min(MOST_PROMPTS, ceil(count / place) * place)

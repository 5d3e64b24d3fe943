"""Lists of numbers as people type them: `0, 0.5, 1` and `1-5, 8`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from specviz.errors import UsageError

MAX_RANGE = 64
"""Most values that a range such as `1-15` may stand for."""


def numbers(text: str, name: str) -> list[float]:
    """The numbers of a list such as `0, 0.3, 1`. Raises UsageError for anything else."""
    try:
        return [float(part) for part in parts(text)]
    except ValueError:
        raise UsageError(f"{name} cannot be {text!r}: write numbers, such as 0, 0.5, 1.") from None


def whole_numbers(text: str, name: str) -> list[int]:
    """`1-3, 5, 3` as [1, 2, 3, 5]: each once, as written.

    Raises UsageError for what is no number or range, and for a range downwards or too long.
    """
    found: list[int] = []
    for part in parts(text):
        bounds = re.fullmatch(r"(\d{1,9})(?:\s*[-–]\s*(\d{1,9}))?", part)
        if bounds is None:
            raise UsageError(
                f"{name} cannot be {text!r}: write whole numbers, such as 5 or 3, 5, 8 or 1-15."
            )
        first, last = int(bounds[1]), int(bounds[2] or bounds[1])
        if last < first:
            raise UsageError(f"{name}: {part} runs backwards, write {last}-{first}.")
        if last - first >= MAX_RANGE:
            raise UsageError(
                f"{name}: {part} is {last - first + 1:,} values; a range may have {MAX_RANGE}."
            )
        found.extend(range(first, last + 1))
    return list(dict.fromkeys(found))


def compact(values: Sequence[int]) -> str:
    """Whole numbers as they are typed: three or more in a row as a range."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return ", ".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    )


def parts(text: str) -> list[str]:
    """What is between commas or semicolons, without empty pieces."""
    return [part.strip() for part in re.split(r"[,;]", text) if part.strip()]

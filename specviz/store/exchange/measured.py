"""One result of another tool, and its numbers read strictly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """`row`: columns of `elsewhere` that the file tells, `document`: what the file says besides the
    single requests, `computed`: the columns that were computed here."""

    row: Json
    document: Json
    requests: tuple[Json, ...] = ()
    computed: tuple[str, ...] = ()


def number(value: Any) -> float | None:
    """A finite number; None for what is none of the file's or not finite. Raises TypeError."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{str(value)[:60]!r} is not a number")
    return float(value) if math.isfinite(value) else None


def whole(value: Any) -> int:
    """A count. Raises TypeError or ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{str(value)[:60]!r} is not a count")
    if value != int(value) or value < 0:
        raise ValueError(f"{value} is not a count")
    return int(value)

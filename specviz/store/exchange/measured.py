"""One result of another tool, with its numbers checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """`row`: the columns of `elsewhere` that the file has; `document`: the file without its single
    requests; `computed`: the columns that were computed here."""

    row: Json
    document: Json
    requests: tuple[Json, ...] = ()
    computed: tuple[str, ...] = ()


def number(value: Any) -> float | None:
    """A finite number; None for a missing or infinite one. Raises TypeError."""
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

"""One result of another tool, with its numbers checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

LARGEST_COUNT = 2**31 - 1
"""What the INTEGER columns of a request hold."""


@dataclass(frozen=True, slots=True)
class Measured:
    """`row`: the columns of `elsewhere` that the file has; `document`: the file without its single
    requests; `computed`: the columns that were computed here."""

    row: Json
    document: Json
    requests: tuple[Json, ...] = ()
    computed: tuple[str, ...] = ()


Reading = tuple[list[Measured], tuple[str, ...]]
"""The results of one file, and sentences about how they were read."""


@dataclass(frozen=True, slots=True)
class JsonFormat:
    """A tool's JSON: whether documents are of it, and what they report.

    `read` raises KeyError, TypeError, ValueError, AttributeError or OverflowError for documents of
    another form.
    """

    tool: str
    recognises: Callable[[Sequence[Any]], bool]
    read: Callable[[Sequence[Any]], Reading]


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


def small(value: Any) -> int:
    """A count or a token id that an INTEGER holds. Raises TypeError or ValueError."""
    count = whole(value)
    if count > LARGEST_COUNT:
        raise ValueError(f"{str(count)[:60]} is too large")
    return count


def share(value: Any) -> float | None:
    """A probability or a share, 0 to 1; None for a missing one. Raises TypeError or ValueError."""
    found = number(value)
    if found is not None and not 0.0 <= found <= 1.0:
        raise ValueError(f"{found:g} is not between 0 and 1")
    return found


def as_text(value: Any) -> str | None:
    return None if value is None else str(value)

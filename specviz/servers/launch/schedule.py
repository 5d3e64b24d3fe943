"""K by batch size, as a plan gives it to a server that is started for it."""

from __future__ import annotations

from typing import Any

from specviz.errors import UsageError


def checked_schedule(value: Any, k: int | None) -> tuple[tuple[int, int, int], ...]:
    """A schedule as somebody wrote it, for a server with `k`. Raises UsageError for one
    that the server would refuse, or cut short without a word."""
    form = "a schedule is a list of [first, last, K], such as [[1, 4, 5], [5, 256, 0]]"
    if not isinstance(value, list) or not value:
        raise UsageError(f"This is not it: {form}.")
    ranges: list[tuple[int, int, int]] = []
    expected = 1
    for entry in value:
        if not (
            isinstance(entry, list | tuple)
            and len(entry) == 3
            and all(type(number) is int for number in entry)
        ):
            raise UsageError(f"{entry!r} is no range: {form}.")
        first, last, allowed = entry
        if first != expected or last < first:
            raise UsageError(
                f"The schedule's range [{first}, {last}] should begin at {expected} and not end "
                "before it begins: every batch size from 1 needs a K."
            )
        if allowed < 0 or (k is not None and allowed > k):
            raise UsageError(f"The schedule has K = {allowed}: give 0 to the server's {k or 'K'}.")
        ranges.append((first, last, allowed))
        expected = last + 1
    return tuple(ranges)

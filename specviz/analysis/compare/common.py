"""The longest common subsequence of two sequences, in bounded time whatever they hold.

A model that loops repeats one line hundreds of times, on which difflib takes minutes for a few
thousand tokens. One row of the table of lengths is kept as the bits of an integer here: Hyyrö 2004,
"Bit-parallel LCS-length computation revisited", as rapidfuzz does it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

Match = tuple[int, int]
"""Place in the first sequence, place in the second."""


def common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[Match]:
    """Places of one longest common subsequence, ascending in both; n · m / 64 steps."""
    rows = _rows(first, second)
    matches: list[Match] = []
    row, column = len(first), len(second)
    while row and column:
        bit = 1 << (column - 1)
        if rows[row] & bit:  # as long without the second's last element
            column -= 1
        elif not rows[row - 1] & bit:  # as long without the first's last element
            row -= 1
        else:
            row, column = row - 1, column - 1
            matches.append((row, column))
    return matches[::-1]


def _rows(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[int]:
    """Row i: bit j is 0 where first[:i] has one more in common with second[:j + 1] than [:j]."""
    places: dict[Hashable, int] = {}
    for column, element in enumerate(second):
        places[element] = places.get(element, 0) | 1 << column
    ones = (1 << len(second)) - 1
    rows = [ones]
    for element in first:
        row = rows[-1]
        hits = row & places.get(element, 0)
        rows.append(((row + hits) | (row - hits)) & ones)
    return rows

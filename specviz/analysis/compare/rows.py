"""Aligned answers as rows: lines that correspond are next to each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specviz.analysis.compare.alignment import Block, align
from specviz.analysis.compare.pieces import Answer


@dataclass(frozen=True, slots=True)
class Span:
    """Text of one answer that differs or does not. `parts`: the first divergence is here."""

    text: str
    differs: bool = False
    parts: bool = False


Cell = tuple[Span, ...]
Row = tuple[Cell, ...]


def aligned_rows(reference: Answer, others: Sequence[Answer]) -> list[Row]:
    """One row per line of the reference: its cell first, then one per other answer.

    A line ends a row unless one of the answers differs across it. In the reference's cell a piece
    differs if any of the others has not got it there.
    """
    aligned = [align(reference.keys, other.keys) for other in others]
    marked = _Marked.of(aligned)
    rows = []
    start = 0
    for end in [*_row_ends(reference, aligned), len(reference.keys)]:
        is_last = end == len(reference.keys)
        cells = [_reference_cell(reference, marked, start, end)]
        for other, blocks in zip(others, aligned, strict=True):
            cells.append(_cell(other, blocks, start, end, is_last=is_last))
        rows.append(tuple(cells))
        start = end
    return rows


@dataclass(frozen=True, slots=True)
class _Marked:
    """Places of the reference that differ from some answer, and where one of them parts first."""

    differing: frozenset[int]
    firsts: frozenset[int]

    @classmethod
    def of(cls, aligned: Sequence[Sequence[Block]]) -> _Marked:
        differ = [block for blocks in aligned for block in blocks if not block.same]
        firsts = [first for blocks in aligned if (first := _first_difference(blocks))]
        return cls(
            frozenset(place for block in differ for place in range(block.start, block.end)),
            frozenset(first.start for first in firsts if first.end > first.start),
        )


def _row_ends(reference: Answer, aligned: Sequence[Sequence[Block]]) -> list[int]:
    """Places behind a line end, the last excepted, at which no block that differs goes on."""
    inside = {
        place
        for blocks in aligned
        for block in blocks
        if not block.same
        for place in range(block.start + 1, block.end)
    }
    texts = enumerate(reference.texts[:-1], start=1)
    return [place for place, text in texts if text.endswith("\n") and place not in inside]


def _reference_cell(reference: Answer, marked: _Marked, start: int, end: int) -> Cell:
    spans: list[Span] = []
    for place in range(start, end):
        text, differs, parts = (
            reference.texts[place], place in marked.differing, place in marked.firsts,
        )  # fmt: skip
        if spans and not parts and spans[-1].differs is differs:
            last = spans.pop()
            spans.append(Span(last.text + text, differs, last.parts))
        else:
            spans.append(Span(text, differs, parts))
    return tuple(spans)


def _cell(other: Answer, blocks: Sequence[Block], start: int, end: int, *, is_last: bool) -> Cell:
    first = _first_difference(blocks)
    spans = []
    for block in blocks:
        places = _places_in(block, start, end, is_last=is_last)
        if text := "".join(other.texts[place] for place in places):
            spans.append(Span(text, not block.same, block is first))
    return tuple(spans)


def _places_in(block: Block, start: int, end: int, *, is_last: bool) -> Iterator[int]:
    """Places in the other answer that belong next to [start, end) of the reference."""
    if block.same:
        shift = block.other_start - block.start
        yield from range(max(block.start, start) + shift, min(block.end, end) + shift)
    elif start <= block.start < end or (is_last and block.start == end):
        yield from range(block.other_start, block.other_end)


def _first_difference(blocks: Sequence[Block]) -> Block | None:
    return next((block for block in blocks if not block.same), None)

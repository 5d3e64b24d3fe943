"""Two answers aligned piece by piece, as blocks that are the same in both or differ."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from specviz.analysis.compare.common import common_subsequence

MOST_PIECES = 20_000
"""Of the part that differs: what comes behind them is one block, so that memory stays bounded."""


@dataclass(frozen=True, slots=True)
class Block:
    """Pieces [start, end) of the reference next to [other_start, other_end) of the other answer.

    Blocks follow each other without a gap on both sides. One side of a block that differs may be
    empty; both sides of one that is `same` are equally long.
    """

    same: bool
    start: int
    end: int
    other_start: int
    other_end: int

    @property
    def longest(self) -> int:
        return max(self.end - self.start, self.other_end - self.other_start)


def align(reference: Sequence[Hashable], other: Sequence[Hashable]) -> tuple[Block, ...]:
    """Blocks from the first piece to the last: one that is the same follows one that differs.

    The longest common subsequence, without the islands in it that are shorter than what differs on
    either side of them (diff-match-patch's semantic cleanup: a comma that two unrelated sentences
    share says nothing).
    """
    head = shared_length(reference, other)
    tail = shared_length(reference[head:][::-1], other[head:][::-1])
    most = head + MOST_PIECES
    middle = common_subsequence(
        reference[head : min(len(reference) - tail, most)],
        other[head : min(len(other) - tail, most)],
    )
    matches = [
        *((place, place) for place in range(head)),
        *((head + place, head + other_place) for place, other_place in middle),
        *((len(reference) - place, len(other) - place) for place in range(tail, 0, -1)),
    ]
    return tuple(_without_islands(_blocks(matches, len(reference), len(other))))


def shared_length(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """How many pieces both begin with."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(first), len(second)))


def _blocks(matches: Iterable[tuple[int, int]], length: int, other_length: int) -> list[Block]:
    blocks: list[Block] = []
    place = other_place = 0
    for at, other_at in [*matches, (length, other_length)]:
        if (at, other_at) != (place, other_place):
            blocks.append(Block(False, place, at, other_place, other_at))
        if at < length:
            _extend(blocks, Block(True, at, at + 1, other_at, other_at + 1))
        place, other_place = at + 1, other_at + 1
    return blocks


def _without_islands(blocks: Sequence[Block]) -> list[Block]:
    kept: list[Block] = []
    for block in blocks:
        while (
            len(kept) > 1
            and not block.same
            and kept[-1].longest <= min(kept[-2].longest, block.longest)
        ):
            island, before = kept.pop(), kept.pop()
            assert island.same
            block = _joined(before, block)
        kept.append(block)
    return kept


def _extend(blocks: list[Block], block: Block) -> None:
    """Add a block, to the last one if it goes on with it."""
    if blocks and blocks[-1].same is block.same:
        block = _joined(blocks.pop(), block)
    blocks.append(block)


def _joined(first: Block, last: Block) -> Block:
    return Block(last.same, first.start, last.end, first.other_start, last.other_end)

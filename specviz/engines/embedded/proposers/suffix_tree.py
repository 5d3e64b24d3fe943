"""A suffix tree over token sequences, the last of which grows token by token, with counts.

Every path from the root spells a piece of some sequence, at most `depth` tokens long, and knows how
often it occurred. A node that only one suffix has reached is a leaf: what follows is read from its
sequence, and it is unfolded when a second suffix arrives. So a sequence costs a few nodes per token
instead of `depth`, and growing moves only the suffixes that occurred before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from sys import getsizeof
from typing import NamedTuple


class Node:
    """A token sequence that occurred `count` times and was continued `continued` times.

    `children` is None for a leaf: `sequence` from index `sequel` on follows. `best` is the child
    with the highest count.
    """

    __slots__ = ("best", "children", "continued", "count", "sequel", "sequence", "token")

    def __init__(self, token: int, sequence: list[int], sequel: int) -> None:
        self.token = token
        self.count = 1
        self.continued = 0
        self.children: dict[int, Node] | None = None
        self.best: Node | None = None
        self.sequence = sequence
        self.sequel = sequel


class Place(NamedTuple):
    """Where a match of `matched` tokens ended: `beyond` tokens past `node` (0 if no leaf)."""

    node: Node
    beyond: int
    matched: int


class Guess(NamedTuple):
    """Tokens that may follow as a tree, parents first, with their estimated probabilities."""

    token_ids: list[int]
    parents: list[int]
    probs: list[float]


class SuffixTree:
    """All pieces of at most `depth` tokens of the sequences in it."""

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._root = Node(-1, [], 0)
        self._root.children = {}
        self._sequences: deque[list[int]] = deque()
        self._again: list[
            Node
        ] = []  # ends of the last sequence that occurred before, longest first
        self._bytes = 0
        self.tokens = 0

    def __len__(self) -> int:
        return len(self._sequences)

    @property
    def nbytes(self) -> int:
        """Bytes of nodes and sequences."""
        return self._bytes + sum(map(getsizeof, self._sequences))

    def begin(self) -> None:
        """Begin a new sequence; the one before it stays as it is."""
        self._sequences.append([])
        self._again = []

    def extend(self, token_ids: Sequence[int]) -> None:
        """Let the last sequence grow."""
        sequence = self._sequences[-1]
        self.tokens += len(token_ids)
        for token in token_ids:
            sequence.append(token)
            self._again.append(self._root)
            depth = len(self._again)
            again = []
            for node in self._again:
                child = self._enter(node, token, sequence, depth)
                if child is not None:
                    again.append(child)
                depth -= 1
            self._again = again

    def forget_first(self) -> None:
        """Remove the oldest sequence."""
        sequence = self._sequences.popleft()
        self.tokens -= len(sequence)
        for start in range(len(sequence)):
            self._leave(sequence[start : start + self._depth])

    def places(self, context: Sequence[int]) -> Iterator[Place]:
        """Where the last 1, 2, 3 … tokens of `context` occurred and something followed them."""
        for length in range(1, min(len(context), self._depth - 1) + 1):
            place = self._find(context[-length:])
            if place is None or next(_sequels(place, branches=False), None) is None:
                return
            yield place

    def guess(self, place: Place, most: int, least_prob: float, *, branches: bool) -> Guess:
        """At most `most` tokens after `place`, the likeliest first, none below `least_prob`.

        A token's probability is its share among its siblings times the probability of its parent.
        With `branches` the tree grows where it is likeliest, else along the best children.
        """
        guess = Guess([], [], [])
        order = count()
        queue: list[tuple[float, int, int, int, Place]] = []
        parent, prob = -1, 1.0
        while len(guess.token_ids) < most:
            if place.matched < self._depth:
                for token, share, sequel in _sequels(place, branches=branches):
                    if prob * share >= least_prob:
                        heappush(queue, (-prob * share, next(order), token, parent, sequel))
            if not queue:
                break
            negative, _, token, above, place = heappop(queue)
            prob = -negative
            parent = len(guess.token_ids)
            guess.token_ids.append(token)
            guess.parents.append(above)
            guess.probs.append(prob)
        return guess

    def _find(self, pattern: Sequence[int]) -> Place | None:
        node, beyond = self._root, 0
        for token in pattern:
            if node.children is not None:
                child = node.children.get(token)
                if child is None:
                    return None
                node = child
            else:
                at = node.sequel + beyond
                if at >= len(node.sequence) or node.sequence[at] != token:
                    return None
                beyond += 1
        return Place(node, beyond, len(pattern))

    def _enter(self, node: Node, token: int, sequence: list[int], depth: int) -> Node | None:
        """Take a suffix from `node` to its child at `depth`; the child if it may go on there."""
        assert node.children is not None
        node.continued += 1
        child = node.children.get(token)
        if child is None:
            self._add(node, Node(token, sequence, len(sequence)))
            return None
        child.count += 1
        assert node.best is not None
        if child.count > node.best.count:
            node.best = child
        if depth == self._depth:
            return None
        if child.children is None:
            self._unfold(child)
        return child

    def _unfold(self, leaf: Node) -> None:
        """Give the only suffix that reached `leaf` its own leaf below, if it continues."""
        leaf.children = {}
        self._bytes += getsizeof(leaf.children)
        if leaf.sequel < len(leaf.sequence):
            leaf.continued = 1
            self._add(leaf, Node(leaf.sequence[leaf.sequel], leaf.sequence, leaf.sequel + 1))

    def _add(self, parent: Node, child: Node) -> None:
        assert parent.children is not None
        before = getsizeof(parent.children)
        parent.children[child.token] = child
        parent.best = parent.best or child
        self._bytes += getsizeof(child) + getsizeof(parent.children) - before

    def _leave(self, suffix: Sequence[int]) -> None:
        """Take one occurrence of `suffix` out."""
        node = self._root
        for token in suffix:
            if node.children is None:  # as deep as the tree goes
                return
            child = node.children[token]
            node.continued -= 1
            child.count -= 1
            if child.count == 0:
                del node.children[token]
                self._bytes -= getsizeof(child)
            if node.best is child:
                node.best = max(node.children.values(), key=_count, default=None)
            if child.count == 0:
                return
            node = child


def _count(node: Node) -> int:
    return node.count


def _sequels(place: Place, *, branches: bool) -> Iterator[tuple[int, float, Place]]:
    """What follows `place`, the best or all: token, its share, and the place after it."""
    node, beyond, matched = place
    if node.children is None:
        at = node.sequel + beyond
        if at < len(node.sequence):
            yield node.sequence[at], 1.0, Place(node, beyond + 1, matched + 1)
    elif node.best is not None:
        for child in node.children.values() if branches else (node.best,):
            yield child.token, child.count / node.continued, Place(child, 0, matched + 1)

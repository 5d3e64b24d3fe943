"""The shape of a candidate tree that is fixed before anything is drafted."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from specviz.trace import ROOT

Accuracy = tuple[tuple[float, ...], ...]
"""[depth][rank]: how often the drafter's rank-th choice at that depth was the target's token."""


@dataclass(frozen=True, slots=True)
class TreeShape:
    """Nodes level by level: node i continues `parents[i]` with the `ranks[i]`-th best candidate.

    The children of a node have the ranks 0, 1, 2, ... in that order.
    """

    parents: tuple[int, ...]
    ranks: tuple[int, ...]
    depths: tuple[int, ...]

    def widths(self) -> list[int]:
        """How many candidates each depth needs."""
        widest = [0] * max(self.depths, default=0)
        for depth, rank in zip(self.depths, self.ranks, strict=True):
            widest[depth - 1] = max(widest[depth - 1], rank + 1)
        return widest


@lru_cache(maxsize=64)
def best_tree(accuracy: Accuracy, nodes: int) -> TreeShape:
    """The `nodes` most promising nodes: each time the one with the highest product of accuracies.

    Medusa, arXiv 2401.10774, section 2.3.3 (sparse tree). A node is never more promising than
    its parent or elder sibling, so both have been chosen before it.
    """
    chosen: list[tuple[int, ...]] = []
    waiting: list[tuple[float, tuple[int, ...]]] = [(-accuracy[0][0], (0,))]
    while waiting and len(chosen) < nodes:
        negative, path = heapq.heappop(waiting)
        chosen.append(path)
        for value, next_path in _continuations(accuracy, -negative, path):
            heapq.heappush(waiting, (-value, next_path))
    return _shape(sorted(chosen, key=lambda path: (len(path), path)))


def chain_shape(nodes: int) -> TreeShape:
    """A chain as a tree."""
    return TreeShape(tuple(range(ROOT, nodes - 1)), (0,) * nodes, tuple(range(1, nodes + 1)))


def _continuations(
    accuracy: Accuracy, value: float, path: tuple[int, ...]
) -> list[tuple[float, tuple[int, ...]]]:
    """The younger sibling and the first child of a node, with their products of accuracies."""
    depth, rank = len(path) - 1, path[-1]
    found = []
    if rank + 1 < len(accuracy[depth]) and accuracy[depth][rank] > 0:
        ratio = accuracy[depth][rank + 1] / accuracy[depth][rank]
        found.append((value * ratio, (*path[:-1], rank + 1)))
    if depth + 1 < len(accuracy):
        found.append((value * accuracy[depth + 1][0], (*path, 0)))
    return found


def _shape(paths: Sequence[tuple[int, ...]]) -> TreeShape:
    index = {path: node for node, path in enumerate(paths)}
    return TreeShape(
        parents=tuple(index.get(path[:-1], ROOT) for path in paths),
        ranks=tuple(path[-1] for path in paths),
        depths=tuple(len(path) for path in paths),
    )

"""Positions of a draft's nodes when it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.trace import ROOT


@dataclass(frozen=True, slots=True)
class Layout:
    """Rows from the top, one per leaf, a node midway between its first and its last child.

    `rows[i]` is node i's, `root_row` that of the context's end. Columns are the depths.
    """

    rows: tuple[float, ...]
    root_row: float

    @property
    def height(self) -> int:
        """How many rows there are."""
        return round(max((*self.rows, self.root_row))) + 1


def layout(parents: Sequence[int]) -> Layout:
    """Places for a tree whose parents (`ROOT`: the context) come before their children."""
    children = children_of(parents)
    rows: dict[int, float] = {}
    below = [ROOT]
    while below:  # depth first, siblings in order: leaves take the next free row
        node = below.pop()
        below.extend(reversed(children.get(node, [])))
        if node not in children:
            rows[node] = float(len(rows))
    for node in range(len(parents) - 1, ROOT - 1, -1):
        if node in children:
            rows[node] = (rows[children[node][0]] + rows[children[node][-1]]) / 2
    return Layout(tuple(rows[node] for node in range(len(parents))), rows[ROOT])


def children_of(parents: Sequence[int]) -> dict[int, list[int]]:
    """The children of every node that has some, in order; `ROOT` for the first level."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(parent, []).append(node)
    return children

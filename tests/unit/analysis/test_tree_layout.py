"""Where nodes are drawn."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.tree_layout import children_of, layout
from specviz.trace import ROOT

parents_of_trees = st.integers(0, 20).flatmap(
    lambda size: st.tuples(*[st.integers(ROOT, place - 1) for place in range(size)])
)


def test_a_chain_is_one_row() -> None:
    placed = layout([ROOT, 0, 1])
    assert (placed.rows, placed.root_row, placed.height) == ((0.0, 0.0, 0.0), 0.0, 1)


def test_a_parent_stands_midway_between_its_children() -> None:
    placed = layout([ROOT, ROOT, 0, 0])
    assert placed.rows == (0.5, 2.0, 0.0, 1.0)
    assert placed.root_row == 1.25
    assert placed.height == 3


def test_an_empty_draft_has_a_root() -> None:
    assert (layout([]).rows, layout([]).height) == ((), 1)


@given(parents_of_trees)
def test_no_two_nodes_stand_on_each_other(parents: tuple[int, ...]) -> None:
    placed = layout(parents)
    depths: list[int] = []
    for parent in parents:
        depths.append(1 if parent == ROOT else depths[parent] + 1)
    places = list(zip(depths, placed.rows, strict=True))
    assert len(set(places)) == len(places)
    children = children_of(parents)
    leaves = sorted(row for node, row in enumerate(placed.rows) if node not in children)
    assert leaves == [float(row) for row in range(len(leaves))]
    for parent, below in children.items():
        row = placed.root_row if parent == ROOT else placed.rows[parent]
        assert placed.rows[below[0]] <= row <= placed.rows[below[-1]]
        assert all(placed.rows[a] < placed.rows[b] for a, b in pairwise(below))

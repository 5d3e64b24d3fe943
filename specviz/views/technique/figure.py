"""The decision tree as a drawing: boxes in a grid and the lines between them. Data for the page.

Left half from the top: whether to speculate, each question with its exit to the right. Right half:
which technique. A box knows its text and state, a line its label and the side it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from specviz.analysis.advisor.branches import (
    CHOICES,
    GATES,
    LEAVES,
    ROOT,
    TECHNIQUE,
    Fork,
    Speculate,
)
from specviz.analysis.advisor.node import Node
from specviz.analysis.advisor.tree import Tree

PATH, OPEN, ASIDE, IDLE = "path", "open", "aside", "idle"
"""Of a box: on the path, waiting for its answer, answered elsewhere, not answered."""

_ROWS_OF_CHOICES = (1, 3, 5, 7)


@dataclass(frozen=True, slots=True)
class Box:
    """`tone` on, off or undecided for a leaf. `note`: how far from flipping; `tip`: its sources."""

    id: str
    row: int
    column: int
    leaf: bool
    text: str
    state: str
    tone: str = ""
    answer: str = ""
    evidence: str = ""
    note: str = ""
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """`route`: down and right within a half, over and lane from the left half to the right one.

    `guessed`: on the path, but past an unanswered question.
    """

    start: str
    end: str
    label: str
    route: str
    lit: bool
    guessed: bool


def drawing(tree: Tree) -> dict[str, Any]:
    """`{"boxes": [...], "lines": [...]}`, ready for JSON; texts are plain text."""
    return {
        "boxes": [asdict(box) for box in _boxes(tree)],
        "lines": [asdict(line) for line in _lines(tree)],
    }


def _boxes(tree: Tree) -> Iterator[Box]:
    for row, fork in enumerate(GATES, 1):
        yield _question(tree, fork.id, row, 1)
        for end in _leaves(fork):
            yield _leaf(tree, end, row, 2)
    for row, fork in zip(_ROWS_OF_CHOICES, CHOICES, strict=True):
        yield _question(tree, fork.id, row, 3)
        yield _leaf(tree, fork.yes, row, 4)
    yield _leaf(tree, CHOICES[-1].no, _ROWS_OF_CHOICES[-1] + 2, 3)


def _lines(tree: Tree) -> Iterator[Line]:
    for fork in GATES:
        if fork.id == ROOT:
            yield _line(tree, fork.id, fork.no, "slower", "right")
            yield _line(tree, fork.id, fork.unknown or "", "not known", "down")
            yield _line(tree, fork.id, fork.yes, "faster", "over")
        elif fork.yes == TECHNIQUE:
            yield _line(tree, fork.id, fork.no, "no", "right")
            yield _line(tree, fork.id, fork.yes, "yes", "lane")
        else:
            yield from _both(tree, fork)
    for fork in CHOICES:
        yield from _both(tree, fork)


def _both(tree: Tree, fork: Fork) -> Iterator[Line]:
    """A question whose leaf is next to it and whose other answer leads down."""
    sides = (("yes", fork.yes), ("no", fork.no))
    first = next(end for _, end in sides if end in LEAVES)
    for label, end in sides:
        yield _line(tree, fork.id, end, label, "right" if end == first else "down")


def _leaves(fork: Fork) -> list[str]:
    return [end for end in (fork.yes, fork.no) if end in LEAVES]


def _line(tree: Tree, start: str, end: str, label: str, route: str) -> Line:
    lit = (start, end) in tree.walk.edges
    return Line(start, end, label, route, lit, lit and start in tree.walk.passed)


def _question(tree: Tree, node_id: str, row: int, column: int) -> Box:
    node = tree.nodes[node_id]
    return Box(
        node_id, row, column, False, node.question, _state(tree, node),
        answer=_answer(node),
        evidence=node.source.kind.value if node.source else "",
        note=node.flip,
        tip=_tip(node),
    )  # fmt: skip


def _leaf(tree: Tree, leaf_id: str, row: int, column: int) -> Box:
    leaf = LEAVES[leaf_id]
    reached = tree.walk.leaf is not None and tree.walk.leaf.id == leaf_id
    tone = {Speculate.ON: "on", Speculate.OFF: "off"}.get(leaf.speculate, "undecided")
    state = PATH if reached else IDLE
    return Box(leaf_id, row, column, True, leaf.label, state, tone, tip="Click: answers to here")


def _state(tree: Tree, node: Node) -> str:
    if node.id == tree.walk.open_at:
        return OPEN
    if node.on_path:
        return PATH
    return IDLE if node.answer is None else ASIDE


def _answer(node: Node) -> str:
    if node.answer is None:
        return node.value_text or "not known"
    return f"{node.answer_text} · {node.value_text}" if node.value is not None else node.answer_text


def _tip(node: Node) -> str:
    parts = [str(one) for one in (node.source, node.rule) if one is not None]
    return "\n".join(dict.fromkeys(parts))

"""One question at a time: which comes next on the way to a technique, and which were answered.

Asked is what the tree cannot pass without an answer. What it passes would refine the
recommendation, which names it.
"""

from __future__ import annotations

from dataclasses import dataclass

from specviz.analysis.advisor.branches import CHOICES, FORKS, GATES, LEAVES, ROOT, Fork
from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.evidence import Kind
from specviz.analysis.advisor.node import Node
from specviz.analysis.advisor.questions import INPUT_OF, answered
from specviz.analysis.advisor.tree import Tree

ORDER: tuple[str, ...] = tuple(
    dict.fromkeys(INPUT_OF[fork.id] for fork in (*GATES, *CHOICES) if fork.id in INPUT_OF)
)
"""The inputs of the tree's questions, from the root on."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A question that the path came by. `name`: the input that answers it. `is_yours`: entered,
    not read from a benchmark or a server."""

    name: str
    question: str
    answer: str
    rests_on: str
    flip: str
    is_yours: bool


def to_ask(deployment: Deployment) -> tuple[str, ...]:
    """The inputs without which there is no technique, as far as the answers are known.

    Behind an unanswered question the way goes on as if it led on.
    """
    nodes = answered(deployment)
    found: list[str] = []
    at = ROOT
    while at not in LEAVES:
        fork, answer = FORKS[at], nodes[at].answer
        if fork.unknown is None:
            found.append(INPUT_OF[at])
        if answer is None and at == "spare_memory":
            break  # training only matters where the memory is known not to suffice
        at = _onward(fork) if answer is None else (fork.yes if answer else fork.no)
    return tuple(found)


def following(deployment: Deployment, name: str | None) -> str | None:
    """What to ask after `name` (None: first) that is not answered yet; None: nothing is left."""
    begin = 0 if name is None else ORDER.index(name) + 1
    return next(
        (
            one
            for one in to_ask(deployment)
            if ORDER.index(one) >= begin and getattr(deployment, one) is None
        ),
        None,
    )


def turns(tree: Tree) -> tuple[Turn, ...]:
    """The answered questions that the path came by, in its order."""
    found: list[Turn] = []
    for start, end in tree.walk.edges:
        node = tree.nodes[start]
        # Two rules are about the GPU: the first has a row of its own only where it ends the path.
        passed = start == "gpu_busy" and end not in LEAVES
        if node.answer is not None and start in INPUT_OF and not passed:
            found.append(_turn(node))
    return tuple(found)


def _onward(fork: Fork) -> str:
    """Where an unanswered question leads if nothing ends the path."""
    if fork.unknown is not None:
        return fork.unknown
    return fork.no if fork.yes in LEAVES else fork.yes


def _turn(node: Node) -> Turn:
    answer = f"{node.answer_text}, {node.value_text}" if node.value_text else node.answer_text
    return Turn(
        INPUT_OF[node.id],
        node.question,
        answer,
        str(node.source or ""),
        node.flip,
        node.source is not None and node.source.kind is Kind.TYPED,
    )

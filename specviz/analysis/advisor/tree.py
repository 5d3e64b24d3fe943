"""Walking the tree: which questions are on the path, where it ends, what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from specviz.analysis.advisor.branches import CHOICES, FORKS, GATES, LEAVES, ROOT, TECHNIQUE, Leaf
from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.inputs import Answer
from specviz.analysis.advisor.node import Node
from specviz.analysis.advisor.questions import INPUT_OF, answered
from specviz.analysis.advisor.rules import Rule, rule
from specviz.errors import UsageError

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Walk:
    """`edges` are those of the path; `leaf` is None where it waits for an answer, `open_at`.

    `passed` were unanswered and passed: their rules could have ended the path before.
    """

    edges: tuple[Edge, ...]
    leaf: Leaf | None
    open_at: str | None
    passed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """The answered tree. `technique` is the second half on its own: what it would be if on."""

    nodes: dict[str, Node]
    walk: Walk
    technique: Walk


def grow(deployment: Deployment) -> Tree:
    """Answer every question and walk from the root."""
    nodes = answered(deployment)
    walk = walk_from(ROOT, nodes)
    on_path = {start for start, _ in walk.edges} | {walk.open_at}
    nodes = {name: replace(node, on_path=name in on_path) for name, node in nodes.items()}
    return Tree(nodes, walk, walk_from(TECHNIQUE, nodes))


def walk_from(start: str, nodes: Mapping[str, Node]) -> Walk:
    """Follow the answers to a leaf, or to the question that must be answered first."""
    edges: list[Edge] = []
    passed: list[str] = []
    at = start
    while at not in LEAVES:
        fork, answer = FORKS[at], nodes[at].answer
        following = fork.unknown if answer is None else (fork.yes if answer else fork.no)
        if following is None:
            return Walk(tuple(edges), None, at, tuple(passed))
        if answer is None and at != ROOT:
            passed.append(at)
        edges.append((at, following))
        at = following
    return Walk(tuple(edges), LEAVES[at], None, tuple(passed))


def rules_alone(nodes: Mapping[str, Node]) -> Walk:
    """What the rules of thumb say without any measured speed-up."""
    return walk_from(FORKS[ROOT].unknown or ROOT, nodes)


def leading_to(leaf: str, deployment: Deployment) -> Deployment:
    """The deployment changed as little as needed for the path to end at the leaf.

    Figures of a benchmark win over rules, so for a leaf of the rules they are left out. Raises
    UsageError for the leaf that only a benchmark leads to, where none says so.
    """
    if leaf not in LEAVES:
        raise UsageError(f"There is no leaf {leaf!r}: choose one of {', '.join(LEAVES)}.")
    if leaf == "best_measured":
        return _by_benchmark(deployment)
    wanted = _answers_on_the_way(leaf)
    changed: dict[str, Any] = {"measured": None}
    for node, answer in wanted.items():
        if node in INPUT_OF:
            changed |= _change(node, answer, replace(deployment, **changed))
    return replace(deployment, **changed)


def _by_benchmark(deployment: Deployment) -> Deployment:
    """Without what keeps the benchmark's options out: draft and target first, then load and aim."""
    free = replace(deployment, draft_fits=None, target_swapped=None)
    anywhere = replace(free, temperature=None, concurrency=None, slo=None, text=None)
    for tried in (deployment, free, anywhere):
        leaf = grow(tried).walk.leaf
        if leaf is not None and leaf.id == "best_measured":
            return tried
    raise UsageError("No figure says so: choose a benchmark in which a method gains.")


def _answers_on_the_way(leaf: str) -> dict[str, bool | None]:
    """What every question from the root must answer; None: unanswered."""
    if leaf == "off_measured":
        return {ROOT: False}
    before: dict[str, bool | None] = {ROOT: None}
    for fork in (*GATES[1:], *CHOICES[1:]):
        if leaf in (fork.yes, fork.no):
            return before | {fork.id: leaf == fork.yes}
        before[fork.id] = fork.yes not in LEAVES
    raise AssertionError(leaf)


def _change(node: str, answer: bool | None, deployment: Deployment) -> dict[str, Answer | None]:
    """The input that makes the question answer so, {} where it does, or where it passes."""
    known = answered(deployment)[node].answer
    fork = FORKS[node]
    if known is answer or (known is None and answer is False and fork.no == fork.unknown):
        return {}
    if answer is None:
        return {INPUT_OF[node]: None}
    if node in _BY_NUMBER:
        return {INPUT_OF[node]: _BY_NUMBER[node](answer)}
    return {INPUT_OF[node]: answer}


def _speedup(answer: bool) -> float:
    return 1.5 if answer else 0.9


def _above(name: str, factor: float) -> Any:
    """A value well on the side of the answer, for a rule that fires above its threshold."""
    return lambda answer: rule(name).threshold * (factor if answer else 0.5)


def _concurrency(answer: bool) -> int:
    limit = int(rule("concurrency_off").threshold)
    return limit if answer else limit // 4


def _busy(answer: bool) -> float:
    """Above the upper threshold, or below the lower one."""
    high, low = _utilizations()
    return (high.threshold + 1) / 2 if answer else low.threshold / 2


def _idle(answer: bool) -> float:
    """Below the lower threshold, or between both."""
    high, low = _utilizations()
    return low.threshold / 2 if answer else round((high.threshold + low.threshold) / 2, 6)


def _acceptance(answer: bool) -> float:
    return rule("acceptance_harmful" if answer else "acceptance_aim").threshold * (
        0.8 if answer else 1.0
    )


def _utilizations() -> tuple[Rule, Rule]:
    return rule("gpu_utilization_batch"), rule("gpu_utilization_on")


_BY_NUMBER: dict[str, Any] = {
    "speedup": _speedup,
    "temperature": _above("temperature_off", 1.2),
    "concurrency": _concurrency,
    "acceptance": _acceptance,
    "gpu_busy": _busy,
    "gpu_idle": _idle,
    "output_tokens": _above("output_tokens_on", 2.0),
    "spare_memory": _above("spare_memory_eagle3", 2.0),
}

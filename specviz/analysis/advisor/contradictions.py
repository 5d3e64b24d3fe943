"""Where a rule of thumb and a measurement, or two rules, do not agree: both are shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from specviz.analysis.advisor.branches import GATES, LEAVES, Speculate
from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.evidence import Evidence
from specviz.analysis.advisor.k import guideline
from specviz.analysis.advisor.measured import interval_text
from specviz.analysis.advisor.questions import chosen_option
from specviz.analysis.advisor.rules import SloRow, rule
from specviz.analysis.advisor.technique import METHODS_OF_LEAF, methods_of_slo, technique_name
from specviz.analysis.advisor.tree import Tree, rules_alone
from specviz.analysis.text import percent
from specviz.methods import Method


@dataclass(frozen=True, slots=True)
class Contradiction:
    """`says` is the rule's side, `but` the other; `wins` is what was followed."""

    says: str
    says_evidence: Evidence | None
    but: str
    but_evidence: Evidence | None
    wins: str


def contradictions(
    deployment: Deployment, tree: Tree, method: Method | None, row: SloRow | None
) -> tuple[Contradiction, ...]:
    """All of them, the weightiest first."""
    return tuple(
        [
            *_whether(deployment, tree),
            *_acceptance(deployment, tree),
            *_which(deployment, tree, method),
            *_how_many(deployment, method),
            *_aim(tree, method, row),
        ]
    )


def _whether(deployment: Deployment, tree: Tree) -> Iterator[Contradiction]:
    """Measured against the rules: on or off."""
    node = tree.nodes["speedup"]
    if node.answer is None:
        return
    chosen = chosen_option(deployment)
    found = interval_text(chosen.speedup) if chosen else node.value_text
    but = f"{'Faster' if node.answer else 'Slower'} than plain decoding: {found}."
    for says, evidence in _rules_against(tree, faster=node.answer):
        yield Contradiction(says, evidence, but, node.source, "the measured speed-up")


def _rules_against(tree: Tree, *, faster: bool) -> Iterator[tuple[str, Evidence | None]]:
    """Every rule that says off although it gains; or that all rules say on although it does not."""
    if not faster:
        leaf = rules_alone(tree.nodes).leaf
        if leaf is not None and leaf.speculate is Speculate.ON:
            yield "The rules of thumb say on.", tree.nodes["gpu_idle"].rule
        return
    for fork in GATES[1:]:
        node = tree.nodes[fork.id]
        if node.answer and fork.yes in LEAVES and fork.id != "acceptance":
            value = f" ({node.value_text})" if node.value is not None else ""
            yield f"The rule says off: {_lower(node.question)}{value}.", node.rule


def _lower(question: str) -> str:
    """As a clause: GPU stays GPU."""
    first, rest = question[:1], question[1:].removesuffix("?")
    return (first if rest[:1].isupper() else first.lower()) + rest


def _acceptance(deployment: Deployment, tree: Tree) -> Iterator[Contradiction]:
    """A draft that gains below the harmful acceptance, or loses above the one to aim at."""
    speedup, value = tree.nodes["speedup"], tree.nodes["acceptance"].value
    if value is None or speedup.answer is None:
        return
    harmful, aim = rule("acceptance_harmful"), rule("acceptance_aim")
    for limit, contrary in ((harmful, speedup.answer), (aim, not speedup.answer)):
        if limit.fires(value) and contrary:
            yield Contradiction(
                f"Acceptance {percent(value)}: {limit.evidence.text}.",
                limit.evidence,
                f"{speedup.value_text} against plain decoding.",
                speedup.source,
                "the measured speed-up",
            )


def _which(deployment: Deployment, tree: Tree, method: Method | None) -> Iterator[Contradiction]:
    """The documents' technique against the best one measured."""
    chosen = chosen_option(deployment)
    leaf = _documents_leaf(tree)
    if chosen is None or deployment.measured is None or method is not chosen.method or leaf is None:
        return
    named = METHODS_OF_LEAF[leaf]
    if chosen.gains and chosen.method not in named:
        names = " or ".join(technique_name(one) for one in named)
        yield Contradiction(
            f"The documents' tree says {names}.",
            tree.nodes[_LAST_QUESTION[leaf]].rule,
            f"{chosen.arm} is the best measured: {interval_text(chosen.speedup)}.",
            deployment.measured.evidence(chosen),
            "the measured technique",
        )


_LAST_QUESTION = {
    "untrained": "target_swapped",
    "eagle3": "spare_memory",
    "medusa": "light_training",
    "vanilla": "light_training",
}


def _documents_leaf(tree: Tree) -> str | None:
    """Where the documents' three questions lead, None if one of them is not answered."""
    if tree.nodes["target_swapped"].answer:
        return "untrained"
    for node, leaf in (("target_swapped", ""), ("spare_memory", "eagle3")):
        if tree.nodes[node].answer is None:
            return None
        if tree.nodes[node].answer:
            return leaf
    answer = tree.nodes["light_training"].answer
    return None if answer is None else ("medusa" if answer else "vanilla")


def _how_many(deployment: Deployment, method: Method | None) -> Iterator[Contradiction]:
    """The guideline's K against the measured one."""
    chosen = chosen_option(deployment)
    if chosen is None or deployment.measured is None or method is not chosen.method or not chosen.k:
        return
    found = guideline(deployment, chosen.method)
    if not found.low <= chosen.k <= found.high:
        yield Contradiction(
            f"K from {found.low} to {found.high} ({found.situation}).",
            found.evidence,
            f"K {chosen.k} is the best measured: {interval_text(chosen.speedup)}.",
            deployment.measured.evidence(chosen),
            "the measured K",
        )


def _aim(tree: Tree, method: Method | None, row: SloRow | None) -> Iterator[Contradiction]:
    """The SLO table against the documents' own tree."""
    if row is None or method is None or method in methods_of_slo(row):
        return
    measured = tree.walk.leaf is not None and tree.walk.leaf.id == "best_measured"
    yield Contradiction(
        f"For the aim {row.slo} the documents' table says {row.techniques}.",
        row.evidence,
        f"This situation leads to {technique_name(method)}.",
        None,
        "the measured technique" if measured else "the tree: it knows what fits and can be trained",
    )

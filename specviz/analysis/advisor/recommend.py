"""The recommendation for a deployment: on or off, technique, K, expected figures, reasons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from specviz.analysis.advisor.branches import FORKS, LEAVES, Leaf, Speculate
from specviz.analysis.advisor.contradictions import Contradiction, contradictions
from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.evidence import Evidence, Figure
from specviz.analysis.advisor.inputs import INPUTS
from specviz.analysis.advisor.k import KChoice, measured_k, rule_of_k
from specviz.analysis.advisor.measured import figures_of
from specviz.analysis.advisor.node import Node
from specviz.analysis.advisor.questions import INPUT_OF, chosen_option, usable_options
from specviz.analysis.advisor.router import Router, router
from specviz.analysis.advisor.rules import SloRow, rule
from specviz.analysis.advisor.technique import (
    METHODS_OF_LEAF,
    methods_of_slo,
    published_figures,
    slo_row,
    technique_name,
)
from specviz.analysis.advisor.tree import Tree, Walk, grow
from specviz.analysis.benchmark.results import Speedup
from specviz.analysis.verdict import Verdict
from specviz.methods import Method


@dataclass(frozen=True, slots=True)
class Reason:
    """One sentence and what it rests on."""

    text: str
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """An input that was not given, and what it would decide."""

    name: str
    label: str
    decides: str


@dataclass(frozen=True, slots=True)
class Recommendation:
    """`method`: to use if on, to measure if undecided, None if off or not known yet.

    `draft` is the one that was measured. `expected` are figures for `method`: measured here, or
    published for other hardware and models. `measured` is the speed-up that decides, if any.
    """

    speculate: Speculate
    tree: Tree
    leaf: Leaf | None
    method: Method | None
    technique: str | None
    alternatives: tuple[Method, ...]
    draft: str | None
    k: KChoice | None
    slo: SloRow | None
    expected: tuple[Figure, ...]
    reasons: tuple[Reason, ...]
    missing: tuple[Missing, ...]
    contradictions: tuple[Contradiction, ...]
    router: Router | None
    measured: Speedup | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; the keys are the field names, the tree as a list of its questions."""
        shown = asdict(self)
        shown["tree"] = [
            {**asdict(node), "answer_text": node.answer_text} for node in self.tree.nodes.values()
        ]
        return shown


def recommend(deployment: Deployment) -> Recommendation:
    """Walk the tree and collect what follows from it."""
    tree = grow(deployment)
    leaf = tree.walk.leaf
    measured = _measured_speedup(deployment)
    speculate = leaf.speculate if leaf else _open_end(tree.walk)
    if speculate is Speculate.ON and measured and measured.low is not None:
        speculate = _BY_VERDICT[measured.verdict]
    method, alternatives = _methods(tree, deployment, speculate)
    row = slo_row(deployment)
    k = _k(deployment, method, row)
    return Recommendation(
        speculate=speculate,
        tree=tree,
        leaf=leaf,
        method=method,
        technique=technique_name(method) if method else None,
        alternatives=alternatives,
        draft=_draft(deployment, method),
        k=k,
        slo=row,
        expected=_expected(deployment, method),
        reasons=tuple(_reasons(deployment, tree, row)),
        missing=tuple(_missing(deployment, tree)),
        contradictions=contradictions(deployment, tree, method, row),
        router=_router(deployment, method, k),
        measured=measured,
    )


_BY_VERDICT = {
    Verdict.FASTER: Speculate.ON,
    Verdict.SLOWER: Speculate.OFF,
    Verdict.UNDECIDED: Speculate.UNDECIDED,
}
"""A rule of thumb does not decide what was measured and is within noise."""


def _measured_speedup(deployment: Deployment) -> Speedup | None:
    chosen = chosen_option(deployment)
    return None if chosen is None else chosen.speedup


def _open_end(walk: Walk) -> Speculate:
    """A path that waits in the second half has been switched on already."""
    waits_for_technique = walk.open_at in ("target_swapped", "spare_memory", "light_training")
    return Speculate.ON if waits_for_technique else Speculate.UNDECIDED


def _methods(
    tree: Tree, deployment: Deployment, speculate: Speculate
) -> tuple[Method | None, tuple[Method, ...]]:
    if speculate is Speculate.OFF:
        return None, ()
    chosen = chosen_option(deployment)
    end = tree.walk.leaf if tree.walk.leaf and tree.walk.leaf.id in METHODS_OF_LEAF else None
    leaf = end or tree.technique.leaf
    if leaf is not None and leaf.id == "best_measured":
        assert chosen is not None
        others = {one.method: None for one in usable_options(deployment) if one.gains}
        return chosen.method, tuple(method for method in others if method is not chosen.method)
    named = METHODS_OF_LEAF[leaf.id] if leaf else ()
    return (named[0], named[1:]) if named else (None, ())


def _k(deployment: Deployment, method: Method | None, row: SloRow | None) -> KChoice | None:
    if method is None:
        return None
    chosen = chosen_option(deployment)
    if chosen is not None and chosen.method is method and deployment.measured is not None:
        evidence = deployment.measured.evidence(chosen)
        found = measured_k(chosen, usable_options(deployment), evidence)
        if found is not None:
            return found
    named = row if row is not None and method in methods_of_slo(row) else None
    return rule_of_k(deployment, method, named)


def _router(deployment: Deployment, method: Method | None, k: KChoice | None) -> Router | None:
    if method is None:
        return None
    chosen = chosen_option(deployment)
    same = chosen if chosen is not None and chosen.method is method else None
    return router(method, k.k if k else None, deployment.measured, same)


def _draft(deployment: Deployment, method: Method | None) -> str | None:
    chosen = chosen_option(deployment)
    return chosen.draft if chosen is not None and chosen.method is method else None


def _expected(deployment: Deployment, method: Method | None) -> tuple[Figure, ...]:
    if method is None:
        return ()
    chosen = chosen_option(deployment)
    if chosen is not None and chosen.method is method and deployment.measured is not None:
        return figures_of(deployment.measured, chosen)
    return published_figures(method, deployment)


def _reasons(deployment: Deployment, tree: Tree, row: SloRow | None) -> Iterator[Reason]:
    """The questions on the path as sentences, then what the aim asks for."""
    if usable_options(deployment) and chosen_option(deployment) is None:
        yield Reason(f"No measured arm keeps TPOT P95 within {deployment.slo_tpot_ms:g} ms.")
    for start, end in tree.walk.edges:
        node = tree.nodes[start]
        if node.answer is not None and (node.answer or end in LEAVES or start in _REQUIRED):
            yield Reason(sentence(node), node.source)
    if row is not None:
        yield Reason(f"Aim {row.slo}: {row.techniques}, K {row.k}.", row.evidence)
        limit = rule("throughput_concurrency")
        limited = "concurrency" in row.techniques and deployment.concurrency is not None
        if limited and not limit.fires(deployment.concurrency or 0):
            yield Reason(
                f"That aim holds up to concurrency {limit.threshold:g}, not at "
                f"{deployment.concurrency}: limit it, or leave speculation off above.",
                limit.evidence,
            )
    elif deployment.slo == "tpot" and deployment.slo_tpot_ms is not None:
        yield Reason(
            f"No technique in the documents' table keeps TPOT P95 below {deployment.slo_tpot_ms:g} "
            "ms on their hardware: measure it here."
        )


_REQUIRED = ("speedup", "gpu_idle", "output_tokens", "draft_fits")


def sentence(node: Node) -> str:
    """An answered question as a reason."""
    value = f" ({node.value_text})" if node.value is not None else ""
    return f"{node.question.removesuffix('?')}: {node.answer_text}{value}."


def _missing(deployment: Deployment, tree: Tree) -> Iterator[Missing]:
    """What the path waits for first, then what it passed without an answer."""
    walk = tree.walk
    if walk.leaf is not None and walk.leaf.speculate is Speculate.OFF:
        return
    open_at = (walk.open_at, tree.technique.open_at, *walk.passed)
    seen = set()
    if deployment.slo == "tpot" and deployment.slo_tpot_ms is None:
        label = INPUTS["slo_tpot_ms"].label
        yield Missing("slo_tpot_ms", label, f"{label}? The aim has no limit yet.")
    for node in (one for one in open_at if one in INPUT_OF):
        name = INPUT_OF[node]
        if name not in seen:
            seen.add(name)
            yield Missing(name, INPUTS[name].label, _decides(tree.nodes[node]))


def _decides(node: Node) -> str:
    """`Memory pressure high? Yes leads to “Optimise batching”.`: the answers that end the path."""
    fork = FORKS[node.id]
    ends = [
        f" {word} leads to “{LEAVES[end].label}”."
        for word, end in (("Yes", fork.yes), ("No", fork.no))
        if end in LEAVES
    ]
    return node.question + "".join(ends)

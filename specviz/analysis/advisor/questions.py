"""The questions of the tree, answered for one deployment."""

from __future__ import annotations

from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.evidence import Evidence, Kind
from specviz.analysis.advisor.measured import Option, best, interval_text, options_at
from specviz.analysis.advisor.node import (
    DEGREE,
    GB,
    PERCENT,
    PLAIN,
    TIMES,
    TOKENS,
    Node,
    threshold_node,
    yes_no_node,
)
from specviz.analysis.advisor.rules import Rule, retrained, rule, rule_evidence
from specviz.methods import METHODS, Method

BREAK_EVEN = Rule(
    "speedup", ">", 1.0, Evidence(Kind.RULE, "below 1× speculation costs more than it saves")
)

_THRESHOLDS = (
    ("temperature", "temperature", "Temperature", "temperature_off", DEGREE),
    ("concurrency", "concurrency", "Concurrency", "concurrency_off", PLAIN),
    ("acceptance", "acceptance", "Acceptance", "acceptance_harmful", PERCENT),
    ("gpu_busy", "gpu_utilization", "GPU utilisation", "gpu_utilization_batch", PERCENT),
    ("gpu_idle", "gpu_utilization", "GPU utilisation", "gpu_utilization_on", PERCENT),
    ("output_tokens", "output_tokens", "Mean answer", "output_tokens_on", TOKENS),
    ("spare_memory", "spare_memory_gb", "Spare GPU memory", "spare_memory_eagle3", GB),
)
"""Node, input, quantity, rule, unit."""

_YES_NO = (
    ("memory_pressure", "Memory pressure high?", "memory_pressure"),
    ("draft_fits", "Draft fits in memory?", "draft_fits"),
    ("target_swapped", "Target swapped often?", "target_swapped"),
    ("light_training", "Light training infrastructure?", "light_training"),
)
"""Node and input, question, rule."""

INPUT_OF = {
    **{node: name for node, name, *_ in _THRESHOLDS},
    **{node: node for node, *_ in _YES_NO},
    "speedup": "speedup",
}
"""The input that answers a node."""


def answered(deployment: Deployment) -> dict[str, Node]:
    """Every question by its id, none of them on a path yet."""
    chosen = chosen_option(deployment)
    nodes = [speedup_node(deployment, chosen), _best_node(deployment, chosen)]
    for node, name, quantity, rule_name, unit in _THRESHOLDS:
        value, source = getattr(deployment, name), deployment.source(name)
        if node == "acceptance" and value is None and chosen and chosen.acceptance is not None:
            assert deployment.measured is not None
            value, source = chosen.acceptance, deployment.measured.evidence(chosen)
        nodes.append(threshold_node(node, quantity, rule(rule_name), unit, value, source))
    for node, question, rule_name in _YES_NO:
        answer, source = getattr(deployment, node), deployment.source(node)
        nodes.append(yes_no_node(node, question, rule_evidence(rule_name), answer, source))
    return {node.id: node for node in nodes}


def usable_options(deployment: Deployment) -> tuple[Option, ...]:
    """What was measured at this load and can be used here: drafts that fit, methods that need not
    be trained again for every new target."""
    if deployment.measured is None:
        return ()
    found = options_at(
        deployment.measured, deployment.temperature, deployment.concurrency, deployment.text
    )
    return tuple(one for one in found if _can_be_used(one.method, deployment))


def chosen_option(deployment: Deployment) -> Option | None:
    """The best measured option for the aim, None where nothing was measured at this load."""
    return best(usable_options(deployment), deployment.slo, deployment.slo_tpot_ms)


def speedup_node(deployment: Deployment, chosen: Option | None) -> Node:
    """Is it faster than plain decoding, measured? By a benchmark, else as entered."""
    question = "Measured faster than plain decoding?"
    if chosen is None or deployment.measured is None:
        entered = threshold_node(
            "speedup", question, BREAK_EVEN, TIMES, deployment.speedup, deployment.source("speedup")
        )
        return _renamed(entered, question)
    source = deployment.measured.evidence(chosen)
    ratio = chosen.speedup.ratio
    node = threshold_node("speedup", question, BREAK_EVEN, TIMES, ratio, source)
    text = interval_text(chosen.speedup)
    if chosen.gains is None:
        return Node(
            "speedup", question, None, source, BREAK_EVEN.evidence, ratio, 1.0, TIMES,
            flip=text if chosen.speedup.low is None else f"{text}: {chosen.speedup.verdict_text}",
        )  # fmt: skip
    flip = f"{text}; {node.flip}"
    return Node(
        "speedup", question, chosen.gains, source, BREAK_EVEN.evidence, ratio, 1.0, TIMES,
        node.distance, node.inclusive, flip,
    )  # fmt: skip


def _best_node(deployment: Deployment, chosen: Option | None) -> Node:
    """Whether a benchmark names the technique."""
    question = "A technique that gains, measured here?"
    rule_text = Evidence(Kind.RULE, "a measured figure goes before a rule of thumb")
    if chosen is None or deployment.measured is None:
        return Node("measured_best", question, False, None, rule_text)
    source = deployment.measured.evidence(chosen)
    return Node(
        "measured_best", question, chosen.gains is True, source, rule_text,
        chosen.speedup.ratio, 1.0, TIMES, flip=interval_text(chosen.speedup),
    )  # fmt: skip


def _renamed(node: Node, question: str) -> Node:
    return Node(
        node.id, question, node.answer, node.source, node.rule, node.value, node.threshold,
        node.unit, node.distance, node.inclusive, node.flip,
    )  # fmt: skip


def _can_be_used(method: Method, deployment: Deployment) -> bool:
    if deployment.draft_fits is False and METHODS[method].needs_draft:
        return False
    return not (deployment.target_swapped and method in retrained())

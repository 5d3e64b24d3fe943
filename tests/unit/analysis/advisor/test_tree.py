"""The decision tree: every leaf, every threshold from both sides, every distance walked."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.advisor.branches import FORKS, LEAVES, Speculate
from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.inputs import INPUTS
from specviz.analysis.advisor.questions import INPUT_OF, answered
from specviz.analysis.advisor.rules import rule
from specviz.analysis.advisor.tree import grow, leading_to, rules_alone
from specviz.errors import UsageError
from tests.support.analysis.benchmark_options import measured, option

ON = Deployment(gpu_utilization=0.3, output_tokens=300, draft_fits=True)
"""The three that must hold for speculation."""

EAGLE = replace(ON, target_swapped=False, spare_memory_gb=20)
SMALL = replace(ON, target_swapped=False, spare_memory_gb=4)
GAIN, LOSS = measured(option(1.5)), measured(option(0.8))

BY_HAND = {
    "off_measured": replace(ON, measured=LOSS),
    "batch_memory": replace(ON, memory_pressure=True),
    "off_temperature": replace(ON, temperature=1.2),
    "off_concurrency": replace(ON, concurrency=64),
    "off_acceptance": replace(ON, acceptance=0.49),
    "batch_gpu": replace(ON, gpu_utilization=0.81),
    "measure_gpu": replace(ON, gpu_utilization=0.65),
    "measure_short": replace(ON, output_tokens=60),
    "measure_fit": replace(ON, draft_fits=False),
    "best_measured": replace(ON, measured=GAIN),
    "untrained": replace(ON, target_swapped=True),
    "eagle3": EAGLE,
    "medusa": replace(SMALL, light_training=True),
    "vanilla": replace(SMALL, light_training=False),
}


def leaf_of(deployment: Deployment) -> str | None:
    leaf = grow(deployment).walk.leaf
    return leaf and leaf.id


@pytest.mark.parametrize("leaf", LEAVES)
def test_every_leaf_is_reached(leaf: str) -> None:
    assert leaf_of(BY_HAND[leaf]) == leaf


@pytest.mark.parametrize(
    ("changed", "leaf"),
    [
        ({"gpu_utilization": 0.5}, "measure_gpu"),
        ({"gpu_utilization": 0.499}, "eagle3"),
        ({"gpu_utilization": 0.8}, "measure_gpu"),
        ({"gpu_utilization": 0.801}, "batch_gpu"),
        ({"output_tokens": 100}, "measure_short"),
        ({"output_tokens": 101}, "eagle3"),
        ({"temperature": 1.0}, "eagle3"),
        ({"temperature": 1.01}, "off_temperature"),
        ({"concurrency": 31}, "eagle3"),
        ({"concurrency": 32}, "off_concurrency"),
        ({"acceptance": 0.5}, "eagle3"),
        ({"acceptance": 0.499}, "off_acceptance"),
        ({"spare_memory_gb": 10, "light_training": True}, "medusa"),
        ({"spare_memory_gb": 10.01}, "eagle3"),
        ({"speedup": 1.0}, "off_measured"),
        ({"speedup": 1.01}, "eagle3"),
    ],
)
def test_thresholds_are_the_documents(changed: dict[str, float], leaf: str) -> None:
    assert leaf_of(replace(EAGLE, **changed)) == leaf


@st.composite
def deployments(draw: st.DrawFn) -> Deployment:
    def number(low: float, high: float) -> st.SearchStrategy[float | None]:
        return st.none() | st.floats(low, high).map(lambda value: round(value, 3))

    truth = st.none() | st.booleans()
    return Deployment(
        temperature=draw(number(0, 2)),
        concurrency=draw(st.none() | st.integers(1, 200)),
        output_tokens=draw(number(0, 1000)),
        gpu_utilization=draw(number(0, 1)),
        memory_pressure=draw(truth),
        draft_fits=draw(truth),
        target_swapped=draw(truth),
        spare_memory_gb=draw(number(0, 100)),
        light_training=draw(truth),
        acceptance=draw(number(0, 1)),
        speedup=draw(number(0.01, 5)),
        measured=draw(st.sampled_from([None, GAIN, LOSS, measured(option(1.05))])),
    )


@given(deployments())
def test_a_path_is_one_chain_from_the_root_and_ends_or_waits(deployment: Deployment) -> None:
    tree = grow(deployment)
    walk = tree.walk
    at = "speedup"
    for start, end in walk.edges:
        assert start == at
        fork = FORKS[start]
        assert end in (fork.yes, fork.no, fork.unknown)
        at = end
    assert (walk.leaf is None) is (walk.open_at is not None)
    assert at == (walk.leaf.id if walk.leaf else walk.open_at)
    if walk.open_at:
        assert tree.nodes[walk.open_at].answer is None
    assert {node.id for node in tree.nodes.values() if node.on_path} == {
        start for start, _ in walk.edges
    } | ({walk.open_at} if walk.open_at else set())


@given(deployments(), st.sampled_from([*LEAVES]))
def test_a_click_on_a_leaf_leads_there(deployment: Deployment, leaf: str) -> None:
    if leaf == "best_measured" and deployment.measured is not GAIN:
        with pytest.raises(UsageError, match="choose a benchmark"):
            leading_to(leaf, deployment)
        return
    reached = leading_to(leaf, deployment)
    assert leaf_of(reached) == leaf
    assert leading_to(leaf, reached) == reached  # nothing more to change


@given(deployments())
def test_a_distance_is_what_it_takes_to_flip(deployment: Deployment) -> None:
    """At the threshold, or one float beyond it, the answer is the other one; a hair before, not."""
    for node in answered(deployment).values():
        if node.distance is None or node.source is None or node.threshold is None:
            continue
        assert node.value is not None
        if node.id not in INPUT_OF or deployment.source(INPUT_OF[node.id]) != node.source:
            continue
        if "benchmark" in node.source.text:
            continue
        assert node.distance == pytest.approx(abs(node.value - node.threshold))
        name = INPUT_OF[node.id]
        whole = INPUTS[name].kind == "a whole number"
        away = math.inf if node.value <= node.threshold else -math.inf
        beyond = node.threshold + (1 if away > 0 else -1) if whole else math.nextafter(
            node.threshold, away
        )  # fmt: skip
        before = math.nextafter(node.threshold, node.value)

        def answer(value: float, name: str = name, node_id: str = node.id) -> bool | None:
            changed = replace(deployment, **{name: value, "measured": None})
            return answered(changed)[node_id].answer

        at_threshold = answer(int(node.threshold) if whole else node.threshold)
        assert (at_threshold is not node.answer) is node.inclusive
        if not node.inclusive and beyond >= INPUTS[name].low:
            if node.value == node.threshold:  # either side of the threshold may be the other one
                sides = (math.nextafter(node.threshold, side) for side in (math.inf, -math.inf))
                steps = (beyond, node.threshold - 1, node.threshold + 1) if whole else sides
                assert any(answer(value) is not node.answer for value in steps)
            else:
                assert answer(beyond) is not node.answer
        if not whole and node.value != node.threshold:
            assert answer(before) is node.answer


def test_a_distance_is_said_in_the_unit_of_the_question() -> None:
    nodes = answered(replace(EAGLE, temperature=0.7, concurrency=40, gpu_utilization=0.45))
    assert nodes["temperature"].flip == "flips above 1.0, 0.3 away"
    assert nodes["concurrency"].flip == "flips below 32, 8 away"
    assert nodes["gpu_idle"].flip == "flips at or above 50 %, 5 points away"
    assert nodes["gpu_busy"].flip == "flips above 80 %, 35 points away"
    assert nodes["spare_memory"].flip == "flips at or below 10 GB, 10 GB away"
    on_it = answered(replace(EAGLE, temperature=1.0))["temperature"]
    assert on_it.flip == "on the threshold: flips above 1.0"


def test_an_interval_around_one_decides_nothing_and_the_rules_do() -> None:
    close = replace(EAGLE, measured=measured(option(1.05)))
    node = grow(close).nodes["speedup"]
    assert node.answer is None
    assert "more prompts would decide it" in node.flip
    assert leaf_of(close) == "eagle3"
    few = option(1.5)
    few = replace(few, speedup=replace(few.speedup, low=None, high=None))
    assert leaf_of(replace(EAGLE, measured=measured(few))) == "eagle3"


@given(deployments())
def test_measured_figures_go_before_every_rule(deployment: Deployment) -> None:
    """Whatever else is said, where the benchmark tells, the leaf is the benchmark's."""
    at_load = replace(deployment, temperature=None, concurrency=None, draft_fits=None)
    at_load = replace(at_load, target_swapped=None)
    assert leaf_of(replace(at_load, measured=GAIN)) == "best_measured"
    assert leaf_of(replace(at_load, measured=LOSS)) == "off_measured"


def test_the_rules_alone_are_what_they_are_without_a_benchmark() -> None:
    hot = replace(EAGLE, temperature=1.5)
    alone = rules_alone(grow(replace(hot, measured=GAIN)).nodes)
    assert alone.leaf is not None
    assert alone.leaf.id == leaf_of(hot) == "off_temperature"


def test_an_unanswered_veto_is_passed_and_an_unanswered_requirement_waits() -> None:
    walk = grow(Deployment()).walk
    assert walk.open_at == "gpu_idle"
    assert walk.passed == (
        "memory_pressure",
        "temperature",
        "concurrency",
        "acceptance",
        "gpu_busy",
    )
    assert leaf_of(Deployment(temperature=1.5)) == "off_temperature"


def test_thresholds_are_read_and_not_typed() -> None:
    assert [rule(name).threshold for name in ("gpu_utilization_on", "gpu_utilization_batch")] == [
        0.5,
        0.8,
    ]
    assert LEAVES["measure_gpu"].speculate is Speculate.UNDECIDED


def test_an_unknown_leaf_is_named() -> None:
    with pytest.raises(UsageError, match="no leaf 'x'"):
        leading_to("x", Deployment())

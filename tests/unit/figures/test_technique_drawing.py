"""The tree as boxes and lines: complete, one place each, lit where the path goes."""

from __future__ import annotations

import json
from dataclasses import replace

from specviz.analysis.advisor.branches import FORKS, LEAVES
from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.tree import grow, leading_to
from specviz.views.technique.figure import drawing


def test_every_question_and_leaf_has_one_place_of_its_own() -> None:
    boxes = drawing(grow(Deployment()))["boxes"]
    assert {box["id"] for box in boxes} == FORKS.keys() | LEAVES.keys()
    assert len(boxes) == len(FORKS) + len(LEAVES)
    assert len({(box["row"], box["column"]) for box in boxes}) == len(boxes)


def test_every_way_through_the_tree_is_a_line() -> None:
    lines = drawing(grow(Deployment()))["lines"]
    ways = {
        (fork.id, end)
        for fork in FORKS.values()
        for end in (fork.yes, fork.no, fork.unknown)
        if end is not None
    }
    assert {(line["start"], line["end"]) for line in lines} == ways
    assert len(lines) == len(ways)


def test_the_path_is_lit_and_nothing_else() -> None:
    for leaf in LEAVES.keys() - {"best_measured"}:
        tree = grow(leading_to(leaf, Deployment()))
        drawn = drawing(tree)
        lit = {(line["start"], line["end"]) for line in drawn["lines"] if line["lit"]}
        assert lit == set(tree.walk.edges)
        ended = [box["id"] for box in drawn["boxes"] if box["leaf"] and box["state"] == "path"]
        assert ended == [leaf]


def test_a_box_says_its_answer_its_evidence_and_its_distance() -> None:
    drawn = drawing(grow(Deployment(temperature=0.7, gpu_utilization=0.65)))
    boxes = {box["id"]: box for box in drawn["boxes"]}
    warm = boxes["temperature"]
    assert (warm["answer"], warm["evidence"]) == ("no · 0.7", "entered by you")
    assert warm["note"] == "flips above 1.0, 0.3 away"
    assert "disable speculative decoding when temperature > 1.0" in warm["tip"]
    assert boxes["concurrency"]["answer"] == "not known"
    assert boxes["draft_fits"]["state"] == "idle"
    waiting = drawing(grow(Deployment()))["boxes"]
    assert [box["id"] for box in waiting if box["state"] == "open"] == ["gpu_idle"]


def test_an_answered_question_beside_the_path_is_told_apart() -> None:
    drawn = drawing(grow(Deployment(temperature=1.5, output_tokens=300)))
    boxes = {box["id"]: box for box in drawn["boxes"]}
    assert boxes["output_tokens"]["state"] == "aside"
    guessed = [line["start"] for line in drawn["lines"] if line["guessed"]]
    assert guessed == ["memory_pressure"]


def test_a_drawing_is_json() -> None:
    deployment = replace(Deployment(), output_tokens=200)
    assert json.loads(json.dumps(drawing(grow(deployment))))

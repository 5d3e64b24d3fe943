"""One question at a time: five lead to a technique, whatever the answers are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.advisor.branches import Speculate
from specviz.analysis.advisor.deployment import Deployment
from specviz.analysis.advisor.inputs import INPUTS, Kind
from specviz.analysis.advisor.interview import ORDER, following, to_ask, turns
from specviz.analysis.advisor.recommend import recommend
from specviz.analysis.advisor.tree import grow

FIVE = ("gpu_utilization", "output_tokens", "draft_fits", "target_swapped", "spare_memory_gb")
VALUES: dict[str, Any] = {
    "gpu_utilization": [0.1, 0.6, 0.99],
    "output_tokens": [10.0, 500.0],
    "spare_memory_gb": [0.0, 50.0],
}


def asked(replies: dict[str, Any]) -> tuple[Deployment, list[str]]:
    """Ask until nothing is left; None: not known."""
    deployment, found = Deployment(), list[str]()
    name = following(deployment, None)
    while name is not None:
        found.append(name)
        deployment = replace(deployment, **{name: replies.get(name)})
        name = following(deployment, name)
    return deployment, found


def test_there_are_five_questions_and_every_one_is_worded() -> None:
    assert to_ask(Deployment()) == FIVE
    assert all(INPUTS[name].question.endswith("?") for name in ORDER)


@given(
    st.fixed_dictionaries(
        {
            name: st.sampled_from([None, *VALUES.get(name, [True, False])])
            for name in (*FIVE, "light_training")
        }
    )
)
def test_questions_end_and_each_is_asked_once(replies: dict[str, Any]) -> None:
    deployment, found = asked(replies)
    assert len(set(found)) == len(found) <= 6
    assert found == [name for name in ORDER if name in found]
    if all(replies[name] is not None for name in found):
        decided = recommend(deployment)
        assert decided.leaf is not None  # nothing that the path needs was left out


@pytest.mark.parametrize(
    ("replies", "number"),
    [
        ({"gpu_utilization": 0.99}, 1),
        ({"gpu_utilization": 0.1, "output_tokens": 10.0}, 2),
        ({}, 5),
        (dict(zip(FIVE, (0.1, 500.0, True, False, 0.0), strict=True)), 6),
        (dict(zip(FIVE, (0.1, 500.0, True, True, None), strict=True)), 4),
    ],
)
def test_an_answer_that_ends_the_path_ends_the_questions(
    replies: dict[str, Any], number: int
) -> None:
    assert len(asked(replies)[1]) == number


def test_the_path_is_the_answers_that_it_came_by() -> None:
    deployment, _ = asked(dict(zip(FIVE, (0.1, 500.0, True, False, 50.0), strict=True)))
    found = turns(grow(replace(deployment, temperature=0.5, light_training=True)))
    assert [turn.name for turn in found] == ["temperature", *FIVE]  # training was not needed
    assert all(turn.is_yours for turn in found)
    assert recommend(deployment).speculate is Speculate.ON
    busy = turns(grow(Deployment(gpu_utilization=0.99)))
    assert [(turn.name, turn.answer) for turn in busy] == [("gpu_utilization", "yes, 99 %")]


def test_yes_or_no_is_asked_only_where_that_is_the_answer() -> None:
    kinds = {name: INPUTS[name].kind for name in FIVE}
    assert [name for name, kind in kinds.items() if kind is Kind.YES_NO] == [
        "draft_fits",
        "target_swapped",
    ]

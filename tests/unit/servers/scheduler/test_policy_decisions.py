"""Which K a request may use, and why: wishes first, then the policy's table at the held load."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.servers.vllm.scheduler.decision import ASKED, Decider, Decision
from specviz.servers.vllm.scheduler.wishes import why_refused
from tests.support.servers.policy_samples import POLICY, Params


def decided(params: Params, running: int = 1) -> Decision:
    decider = Decider(POLICY)
    decider.next_step(running)
    return decider.decide("r", params)


@pytest.mark.parametrize(
    ("params", "running", "expected"),
    [
        (Params(), 1, Decision(4, "policy: temperature ≤ 0.7, 1 running")),
        (Params(0.7), 9, Decision(1, "policy: temperature ≤ 0.7, 5 or more running")),
        (Params(0.8), 1, Decision(1, "policy: any request, 1 running")),
        (
            Params(extra_args={"category": "code"}),
            3,
            Decision(4, "policy: temperature ≤ 0.7, code, 2 to 4 running"),
        ),
        (Params(1.3, extra_args={"spec_k": 3}), 99, Decision(3, ASKED)),
        (Params(extra_args={"spec_k": 0}), 1, Decision(0, ASKED)),
        (Params(min_p=0.1, extra_args={"spec_k": 3}), 1, Decision(0, "min_p")),
        (Params(logit_bias={1: 5.0}), 1, Decision(0, "logit_bias")),
    ],
)
def test_what_decides(params: Params, running: int, expected: Decision) -> None:
    assert decided(params, running) == expected


def test_the_column_changes_after_the_hold_and_says_when_it_is_held() -> None:
    decider, seen = Decider(POLICY), []
    for running in (1, 9, 9, 9, 9):
        decider.next_step(running)
        seen.append(decider.decide("r", Params()))
    assert [decision.k for decision in seen] == [4, 4, 4, 1, 1]
    assert [decision.reason.endswith("(held)") for decision in seen] == [
        *(False, True, True, False, False)
    ]


def test_a_request_that_is_over_leaves_nothing() -> None:
    decider = Decider(POLICY)
    decider.next_step(1)
    decider.decide("r", Params(extra_args={"spec_k": 0}))
    decider.forget("r")
    assert decider.decide("r", Params()).k == 4


@pytest.mark.parametrize("wish", [-1, 6, 2.0, "2", True, [1], None])
def test_a_k_that_cannot_be_is_refused_in_a_sentence(wish: Any) -> None:
    reason = why_refused(Params(extra_args={"spec_k": wish}), 5)
    assert reason and f"from 0 to 5, the server's K, not {wish!r}." in reason


def test_what_can_be_asked_is_not_refused() -> None:
    for extra in (None, {}, {"spec_k": 0}, {"spec_k": 5, "category": "code"}, {"other": "x"}):
        assert why_refused(Params(extra_args=extra), 5) is None
    assert "category" in (why_refused(Params(extra_args={"category": 3}), 5) or "")


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.floats(0, 2), st.floats(0.01, 1))
def test_every_k_is_one_of_its_row(loads: list[int], temperature: float, top_p: float) -> None:
    decider = Decider(POLICY)
    row = POLICY.row(temperature, top_p)
    for running in loads:
        decider.next_step(running)
        assert decider.decide("r", Params(temperature, top_p)).k in row.k

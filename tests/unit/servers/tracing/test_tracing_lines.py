"""A step's record as the line of a trace: the rule of the sampler in words."""

from __future__ import annotations

import json
import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from specviz.servers.vllm.tracing.lines import Judged, StepRecord, line

VOCABULARY = 100
TOP = [[7, 8, 9, 10, 11]] * 3


def record(num_accepted: int, **fields: object) -> StepRecord:
    """Three drafted tokens, `num_accepted` of them accepted, and one more token."""
    drafted = [7, 7, 7]
    sampled = [*drafted[:num_accepted], 50, *[-1] * (3 - num_accepted)]
    judged = Judged(
        drafted,
        target_probs=[0.4, 0.2, 0.1],
        draft_probs=[0.5, 0.5, 0.5],
        ratios=[0.8, 0.4, 0.2],
        uniform=[0.7, 0.5, 0.1],
        top_ids=TOP,
        top_probs=[[0.4, 0.3, 0.1, 0.05, 0.01]] * 3,
    )
    base = StepRecord(1, 12.5, sampled, VOCABULARY, is_greedy=False, judged=judged)
    return replace(base, **fields)  # type: ignore[arg-type]


def test_tokens_after_the_rejected_one_have_no_u_and_no_top() -> None:
    written = line(record(1))
    assert written["num_accepted"] == 1
    assert written["emitted"] == [7, 50]
    assert written["u"] == [0.7, 0.5, None]
    assert len(written["top"]) == 2
    assert written["accept_probs"] == [0.8, 0.4, 0.2]


def test_a_fully_accepted_draft_is_judged_whole() -> None:
    written = line(record(3))
    assert written["emitted"] == [7, 7, 7, 50]
    assert written["u"] == [0.7, 0.5, 0.1] and len(written["top"]) == 3


def test_accept_probs_never_exceed_one() -> None:
    written = line(record(3, judged=replace(record(3).judged, ratios=[3.0, 1.0, 0.2])))
    assert written["accept_probs"] == [1.0, 1.0, 0.2]


def test_drafts_without_probabilities_count_as_certain() -> None:
    written = line(record(0, judged=replace(record(0).judged, draft_probs=None)))
    assert written["draft_probs"] == [1.0, 1.0, 1.0]


def test_at_temperature_zero_accept_prob_is_the_verdict() -> None:
    judged = replace(record(1).judged, ratios=None, uniform=None, draft_probs=None)
    written = line(record(1, judged=judged, is_greedy=True, drafter_probs=[0.9, 0.8, 0.7]))
    assert written["u"] == [None, None, None]
    # The second was rejected whatever topk says of ties; the third is the first choice, unjudged.
    assert written["accept_probs"] == [1.0, 0.0, 1.0]
    assert written["draft_probs"] == [0.9, 0.8, 0.7]


def test_a_greedy_request_among_sampled_ones_is_recorded_as_greedy() -> None:
    written = line(record(1, is_greedy=True))
    assert written["u"] == [None, None, None] and written["draft_probs"] == [0.5, 0.5, 0.5]


def test_unknown_drafter_probabilities_are_null() -> None:
    judged = replace(record(0).judged, draft_probs=None, uniform=None, ratios=None)
    assert line(record(0, judged=judged, is_greedy=True))["draft_probs"] == [None] * 3


def test_nothing_drafted() -> None:
    written = line(StepRecord(0, 1.0, [42], VOCABULARY, is_greedy=True))
    assert (written["drafted"], written["emitted"], written["num_accepted"]) == ([], [42], 0)
    assert written["u"] == written["top"] == written["accept_probs"] == []


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_lines_are_strict_json(value: float) -> None:
    judged = replace(record(1).judged, target_probs=[value] * 3, ratios=[value] * 3)
    text = json.dumps(line(record(1, judged=judged)), allow_nan=False)
    if not math.isfinite(value):
        assert json.loads(text)["target_probs"] == [None] * 3

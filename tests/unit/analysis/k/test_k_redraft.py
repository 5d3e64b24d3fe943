"""A redraft takes the steps that decoding token by token takes, at every K."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.k.redraft import (
    Redraft,
    StepsAtK,
    corrected,
    mean_acceptance_length,
    steps_at,
)
from tests.support.analysis.k_answers import Price, decode, redrafts, timed


@given(redrafts())
def test_every_k_takes_the_steps_of_decoding(answer: Redraft) -> None:
    for k in range(1, answer.k + 1):
        drafted, accepted, num_steps = decode(answer, k)
        assert steps_at(answer, k) == StepsAtK(tuple(drafted), tuple(accepted), num_steps)


@given(redrafts())
def test_steps_cover_the_answer_and_only_the_last_may_go_beyond(answer: Redraft) -> None:
    for k in range(1, answer.k + 1):
        taken = steps_at(answer, k)
        assert all(0 <= a <= d for a, d in zip(taken.accepted, taken.drafted, strict=True))
        assert all(1 <= drafted <= k for drafted in taken.drafted)
        assert len(taken.drafted) <= taken.num_steps
        behind = max(0, answer.output_tokens - 1)
        covered = taken.num_steps + sum(taken.accepted)
        assert behind <= covered <= behind + k
        assert (taken.num_steps == 0) == (behind == 0)


@pytest.mark.parametrize(
    ("k", "drafted", "accepted", "num_steps"),
    [
        (1, (1, 1, 1), (1, 0, 1), 4),  # at 0 (accepts 1), 2 (none), 3 (undrafted), 4 (beyond)
        (2, (2, 2), (2, 1), 3),  # at 0 (accepts 2), 3 (undrafted), 4
        (3, (3, 2), (2, 1), 3),
    ],
)
def test_a_hand_case(
    k: int, drafted: tuple[int, ...], accepted: tuple[int, ...], num_steps: int
) -> None:
    answer = Redraft(3, 6, drafted=(3, 3, 3, 0, 2), matched=(2, 0, 0, 0, 1))
    assert steps_at(answer, k) == StepsAtK(drafted, accepted, num_steps)


@pytest.mark.parametrize("length", [2, 9, 10, 11, 41])
def test_a_perfect_draft_needs_the_fewest_steps_and_a_wrong_one_a_step_per_token(
    length: int,
) -> None:
    perfect = Redraft(4, length, (4,) * (length - 1), (4,) * (length - 1))
    assert [steps_at(perfect, k).num_steps for k in range(1, 5)] == [
        -(-(length - 1) // (k + 1)) for k in range(1, 5)
    ]
    wrong = Redraft(4, length, (4,) * (length - 1), (0,) * (length - 1))
    assert {steps_at(wrong, k).num_steps for k in range(1, 5)} == {length - 1}


@given(redrafts())
def test_a_k_that_was_not_drafted_is_refused(answer: Redraft) -> None:
    for k in (-1, 0, answer.k + 1, answer.k + 20):
        with pytest.raises(ValueError, match=f"from 1 to {answer.k}, not {k}"):
            steps_at(answer, k)


@pytest.mark.parametrize("length", [0, 1])
def test_an_answer_without_a_second_token_has_no_step(length: int) -> None:
    assert steps_at(Redraft(3, length, (), ()), 2) == StepsAtK((), (), 0)


@pytest.mark.parametrize(
    ("drafted", "matched"), [((1, 1, 1), (1, 1, 1)), ((1, 1), (1,)), ((1,), (1, 1)), ((), ())]
)
def test_a_redraft_with_a_draft_missing_is_refused(
    drafted: tuple[int, ...], matched: tuple[int, ...]
) -> None:
    with pytest.raises(ValueError, match="after every output token but the last"):
        Redraft(1, 3, drafted, matched)


def test_mean_acceptance_length_is_over_all_drafts_of_all_answers() -> None:
    some = [
        StepsAtK((3, 3), (3, 1), 2),
        StepsAtK((2,), (0,), 5),
        StepsAtK((), (), 4),
    ]
    assert mean_acceptance_length(some) == pytest.approx(1 + 4 / 3)
    assert mean_acceptance_length([StepsAtK((), (), 4)]) is None
    assert mean_acceptance_length([]) is None


@given(st.integers(1, 6).flatmap(lambda k: redrafts(k=k, least_drafted=k)), st.randoms())
def test_what_the_run_saw_takes_the_place_of_what_another_engine_drafts(answer, random) -> None:
    run = timed(0, answer, answer.k, Price())
    other = replace(answer, matched=tuple(random.randint(0, answer.k) for _ in answer.matched))
    found = corrected(other, run)
    steps = steps_at(found, answer.k)
    assert (steps.drafted, steps.accepted) == (run.drafted, run.accepted)
    begun, position = set(), 0
    for accepted in run.accepted:
        begun.add(position)
        position += accepted + 1
    assert found.drafted == answer.drafted
    assert found.matched == tuple(
        answer.matched[place] if place in begun else other.matched[place]
        for place in range(len(answer.matched))
    )


@given(st.integers(1, 6).flatmap(lambda k: redrafts(k=k, least_drafted=k)))
def test_nothing_is_corrected_where_the_run_agrees(answer: Redraft) -> None:
    assert corrected(answer, timed(0, answer, answer.k, Price())) == answer


@given(redrafts())
def test_lookups_are_left_as_they_are(answer: Redraft) -> None:
    assert corrected(answer, timed(0, answer, answer.k, Price())) == answer


def test_answers_of_another_length_and_lookups_tell_nothing_about_places() -> None:
    answer = Redraft(2, 6, (2,) * 5, (0, 1, 2, 0, 1))
    run = timed(0, answer, 2, Price())
    longer = Redraft(2, 7, (2,) * 6, (2,) * 6)
    assert corrected(longer, run) == longer
    lookup = replace(run, drafted=(2,), accepted=(1,))
    other = replace(answer, matched=(2,) * 5)
    assert corrected(other, lookup) == other
    assert corrected(other, run) != other

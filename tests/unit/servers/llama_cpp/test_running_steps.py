"""Steps out of running totals, against simulated requests whose truth is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.errors import MalformedReply
from specviz.servers.client.steps.running import (
    MAX_MERGED,
    CountedStep,
    RunningSteps,
    Totals,
    steps_counted,
)

K = 4

drafting = st.integers(0, K).map(lambda accepted: CountedStep(K, accepted))
plain = st.just(CountedStep(0, 0))
shorter = st.integers(0, K).flatmap(
    lambda drafted: st.integers(0, drafted).map(lambda accepted: CountedStep(drafted, accepted))
)
merges = st.lists(st.integers(1, 3), min_size=60, max_size=60)


def totals_of(steps: list[CountedStep], sizes: list[int], cut: int) -> list[Totals]:
    """What a server reports with chunks of these sizes; the last `cut` tokens never come."""
    tokens: list[Totals] = []
    drafted = accepted = 0
    for step in [CountedStep(0, 0), *steps]:
        drafted, accepted = drafted + step.drafted, accepted + step.accepted
        tokens += [
            Totals(len(tokens) + number, drafted, accepted) for number in range(1, step.emitted + 1)
        ]
    last_step = steps[-1].emitted if steps else 1
    tokens = tokens[: len(tokens) - min(cut, last_step - 1)]
    reported, end = [], 0
    for size in sizes:
        end += size
        if end >= len(tokens):
            break
        reported.append(tokens[end - 1])
    return [*reported, tokens[-1]]


def read(totals: list[Totals], k: int | None) -> list[CountedStep]:
    running, steps = RunningSteps(k), list[CountedStep]()
    for one in totals:
        steps += running.take(one)
    return [*steps, *running.finish()]


@given(st.lists(shorter, max_size=12), st.integers(0, K), st.sampled_from([K, None]))
def test_one_token_per_chunk_names_every_step(
    steps: list[CountedStep], cut: int, k: int | None
) -> None:
    assert read(totals_of(steps, [1] * 80, cut), k) == [CountedStep(0, 0), *steps]


@given(st.lists(st.one_of(shorter, plain), max_size=8), merges, st.integers(0, K))
def test_merged_chunks_are_read_right_or_not_at_all(
    steps: list[CountedStep], sizes: list[int], cut: int
) -> None:
    try:
        found = read(totals_of(steps, sizes, cut), K)
    except MalformedReply as error:
        assert "more than one row of steps" in str(error)
    else:
        assert found == [CountedStep(0, 0), *steps]


@given(st.lists(drafting, min_size=1, max_size=8), st.integers(0, 8))
def test_one_held_back_token_is_read_where_every_step_drafts_k(
    steps: list[CountedStep], held: int
) -> None:
    sizes = [1] * held + [2] + [1] * 60
    totals = totals_of(steps, sizes, 0)
    try:
        found = read(totals, K)
    except MalformedReply:  # the answer ended before what would have decided
        assert totals[-1].tokens - held - 2 <= K
    else:
        assert found == [CountedStep(0, 0), *steps]


@given(st.lists(shorter, max_size=8), merges)
def test_steps_come_as_soon_as_they_are_certain(steps: list[CountedStep], sizes: list[int]) -> None:
    running, emitted = RunningSteps(K), 0
    try:
        for one in totals_of(steps, sizes, 0):
            emitted += sum(step.emitted for step in running.take(one))
            assert emitted <= one.tokens
    except MalformedReply:
        return


@pytest.mark.parametrize(
    ("totals", "reason"),
    [
        ([(2, 4, 1), (1, 4, 1)], "decrease"),
        ([(1, 0, 0), (2, 4, 1), (3, 3, 1)], "decrease"),
        ([(1, 0, 0), (1, 4, 1)], "without a token"),
        ([(1, 0, 0), (2, 9, 1)], "no row of steps"),  # more than K
        ([(1, 0, 0), (2, 4, 3), (3, 8, 3)], "no row of steps"),  # inside a step
        ([(1, 0, 0), (2**31 - 1, 2**30, 2**29)], "tokens"),
        ([(1, 0, 0), (1 + MAX_MERGED, 2**31 - 1, 2**30)], "row"),
    ],
)
def test_totals_that_cannot_be_true_are_refused(
    totals: list[tuple[int, int, int]], reason: str
) -> None:
    with pytest.raises(MalformedReply, match=reason):
        read([Totals(*one) for one in totals], K)


@given(st.lists(st.builds(Totals, *[st.integers(0, 2**31 - 1)] * 3), max_size=6))
def test_made_up_totals_of_an_unknown_k_end_in_a_sentence(totals: list[Totals]) -> None:
    try:
        steps_counted(totals, None)
    except MalformedReply:
        return


def test_no_totals_are_no_counts() -> None:
    assert steps_counted([], K) is None

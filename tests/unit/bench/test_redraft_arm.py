"""A real redraft of a benchmark on the embedded engine gives what its other arms measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import torch

from specviz.analysis.benchmark.results import Cell
from specviz.analysis.k.redraft import Redraft, steps_at
from specviz.bench.results import results_of
from specviz.errors import UsageError
from specviz.store import Store, open_store
from specviz.store.benchmarks.redrafts import read_answers, read_redraft, read_step_times
from specviz.sweep import redraft as redraft_module
from specviz.sweep.answer import k_answer
from specviz.sweep.evidence import Evidence, evidence
from specviz.sweep.redraft import RedraftStopped, redraft_arm
from tests.support.bench.redrafted_benchmark import (
    LARGEST,
    LOOKUP,
    NOVEL,
    PLAIN,
    SMALL,
    UNSAID,
    measured,
)
from tests.support.store.made import made

Kept = tuple[Store, str, dict[int, Cell]]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    """The store, its benchmark, and what each arm measured; every arm that can be is redrafted."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("redraft")
    with open_store(made(folder / "runs.duckdb")) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(redraft_module, "TIMED_TOKENS", 4)
        patch.setattr(redraft_module, "PASSES", 2)
        # the redraft is to find by itself what the run saw
        patch.setattr(redraft_module, "corrected", lambda redraft, run: redraft)
        benchmark_id = measured(store, folder)
        for arm in (LARGEST, LOOKUP, UNSAID):
            assert redrafted(store, benchmark_id, arm) == [(1, 3), (2, 3), (3, 3)]
        yield store, benchmark_id, {c.arm_index: c for c in results_of(store, benchmark_id).cells}
    torch.set_num_threads(threads)


def redrafted(store: Store, benchmark_id: str, arm: int) -> list[tuple[int, int]]:
    reports: list[tuple[int, int]] = []
    redraft_arm(store, benchmark_id, arm, lambda *progress: reports.append(progress), lambda: False)
    return reports


def known(small: Kept, arm: int, k: int) -> Evidence:
    store, benchmark_id, _ = small
    found = evidence(store, benchmark_id, {arm: k}, PLAIN)
    assert found is not None
    return found


def kept(store: Store, benchmark_id: str, arm: int) -> tuple[dict[Any, Redraft], list[int]]:
    which = {"benchmark_id": benchmark_id, "arm_index": arm}
    times = store.read(read_step_times, **which)
    return store.read(read_redraft, **which), [time.k for time in times]


@pytest.mark.parametrize(("arm", "k"), [(LARGEST, 3), (LOOKUP, 3), (UNSAID, 5)])
def test_its_own_k_is_what_was_measured(small: Kept, arm: int, k: int) -> None:
    cell = small[2][arm]
    (found,) = known(small, arm, k).predictions([k], redrafted=True)
    assert cell.acceptance is not None and cell.speedup is not None and found.speedup is not None
    assert found.mean_acceptance_length.value == pytest.approx(
        cell.acceptance.mean_acceptance_length
    )
    assert found.draft_acceptance_rate.value == pytest.approx(cell.acceptance.draft_acceptance_rate)
    assert found.speedup.value == pytest.approx(cell.speedup.ratio)
    (cut,) = known(small, arm, k).predictions([k], redrafted=False)
    assert cut.mean_acceptance_length.value == pytest.approx(cell.acceptance.mean_acceptance_length)


def test_which_k_as_data(small: Kept) -> None:
    store, benchmark_id, cells = small
    answer = k_answer(store, benchmark_id, "draft_model")
    assert json.loads(json.dumps(answer)) == answer | {"place": dict(answer["place"])}
    sources = answer["sources"]
    assert list(sources) == ["measured here", "redrafted exactly", "predicted from one run"]
    ratios = {k: cells[arm].speedup for arm, k in ((SMALL, 1), (LARGEST, 3))}
    assert {point["k"] for point in sources["measured here"]["ks"]} == {1, 3}
    best = max(ratios, key=lambda k: ratios[k].ratio)  # type: ignore[union-attr]
    assert sources["measured here"]["best_k"] == best
    assert [point["k"] for point in sources["redrafted exactly"]["ks"]] == [1, 2, 3]
    with pytest.raises(UsageError, match="no mirror with a K: it has draft_model"):
        k_answer(store, benchmark_id, "mirror")


def test_a_smaller_k_is_what_was_measured(small: Kept) -> None:
    found = known(small, LARGEST, 3).predictions([1, 2, 3, 4], redrafted=True)
    assert [one.k for one in found] == [1, 2, 3]
    acceptance = small[2][SMALL].acceptance
    assert acceptance is not None
    assert found[0].mean_acceptance_length.value == pytest.approx(acceptance.mean_acceptance_length)
    assert found[0].draft_acceptance_rate.value == pytest.approx(acceptance.draft_acceptance_rate)
    assert (
        found[0].mean_acceptance_length.value
        < found[1].mean_acceptance_length.value
        < found[2].mean_acceptance_length.value
    )


@pytest.mark.parametrize(("arm", "k"), [(LARGEST, 3), (LOOKUP, 3), (UNSAID, 5)])
def test_every_answer_is_redrafted_as_it_was_given(small: Kept, arm: int, k: int) -> None:
    """The second turn of a conversation too, with the first as it was answered."""
    store, benchmark_id, _ = small
    stored = store.read(read_answers, benchmark_id, arm)
    answers = {one.answer.key: one.answer for one in stored}
    found, times = kept(store, benchmark_id, arm)
    assert found.keys() == answers.keys() == {(0, 0), (1, 0), (1, 1)}
    assert times == sorted({0, 1, (1 + k) // 2, k})
    for key, redraft in found.items():
        steps = steps_at(redraft, k)
        assert (redraft.k, redraft.output_tokens) == (k, answers[key].output_tokens)
        assert (steps.drafted, steps.accepted) == (answers[key].drafted, answers[key].accepted)
        assert steps.num_steps == answers[key].num_steps


def test_one_category_is_part_of_all(small: Kept) -> None:
    found = known(small, LARGEST, 3)
    assert found.of(None) == found
    categories = {answer.category for answer in found.run}
    assert sum(len(found.of(category).run) for category in categories) == len(found.run) == 3
    assert found.of("no such category").predictions([1], redrafted=True) == ()


def test_without_a_redraft_or_answers_there_is_nothing_to_predict(small: Kept) -> None:
    store, benchmark_id, _ = small
    bare = evidence(store, benchmark_id, {SMALL: 1}, None)
    assert bare is not None
    assert bare.cost is None
    (timeless,) = bare.predictions([1], redrafted=False)
    acceptance = small[2][SMALL].acceptance
    assert acceptance is not None
    assert timeless.mean_acceptance_length.value == pytest.approx(acceptance.mean_acceptance_length)
    assert (timeless.tpot_ms, timeless.speedup) == (None, None)
    assert evidence(store, benchmark_id, {LARGEST: 3}, PLAIN, 0.7) is None
    assert evidence(store, benchmark_id, {LARGEST: 3}, PLAIN, 0.0, 2) is None
    both = evidence(store, benchmark_id, {SMALL: 1, LARGEST: 3}, None)
    assert both is not None
    assert both.k == 3 and both.redrafts and both.cost is not None
    line = evidence(store, benchmark_id, {SMALL: 1}, PLAIN)
    assert line is not None and line.cost is not None
    assert "a line through plain decoding and K 1" in line.cost.basis
    assert line.predictions([1], redrafted=True) == ()
    assert len(line.predictions([1], redrafted=False)) == 1


@pytest.mark.parametrize(
    "calls", [0, *(pytest.param(calls, marks=pytest.mark.slow) for calls in (2, 3, 5))]
)
def test_one_that_is_stopped_keeps_nothing_and_harms_nothing(small: Kept, calls: int) -> None:
    """Between answers, after the last, and while steps are timed."""
    store, benchmark_id, _ = small
    earlier = kept(store, benchmark_id, LARGEST)
    for arm in (SMALL, LARGEST):
        answers = iter([False] * calls)
        stops = partial(next, answers, True)
        with pytest.raises(RedraftStopped):
            redraft_arm(store, benchmark_id, arm, lambda *_: None, stops)
    assert kept(store, benchmark_id, SMALL) == ({}, [])
    assert kept(store, benchmark_id, LARGEST) == earlier


@pytest.mark.parametrize("arm", [PLAIN, NOVEL])
def test_a_method_that_cannot_be_redrafted_is_refused(small: Kept, arm: int) -> None:
    store, benchmark_id, _ = small
    with pytest.raises(UsageError, match=r"cannot be redrafted.*Measure each K instead\."):
        redrafted(store, benchmark_id, arm)
    assert kept(store, benchmark_id, arm) == ({}, [])


@pytest.mark.parametrize(
    ("unknown", "left"),
    [
        ("token_ids", {(0, 0), (1, 1)}),
        pytest.param("output_tokens", {(0, 0)}, marks=pytest.mark.slow),
    ],
)
def test_a_later_turn_needs_the_text_of_the_earlier_one_only(
    small: Kept, unknown: str, left: set[tuple[int, int]]
) -> None:
    """The first turn of prompt 1 without its token ids, and without its measurements."""
    store, benchmark_id, _ = small
    taken = {"token_ids": "samples", "output_tokens": "requests"}[unknown]
    first = (
        "request_id IN (SELECT request_id FROM samples JOIN rounds USING (round_id) "
        f"WHERE samples.benchmark_id = '{benchmark_id}' AND prompt_index = 1 AND turn = 0 "
        f"AND rounds.arm_index = {LOOKUP})"
    )

    def swap(cursor: Any, kept: list[Any]) -> list[Any]:
        before = cursor.execute(f"SELECT request_id, {unknown} FROM {taken} WHERE {first}")
        rows = before.fetchall()
        for request_id, value in kept or [(row[0], None) for row in rows]:
            cursor.execute(
                f"UPDATE {taken} SET {unknown} = ? WHERE request_id = ?", [value, request_id]
            )
        return rows

    before = store.write(swap, kept=[])
    try:
        redrafted(store, benchmark_id, LOOKUP)
        assert kept(store, benchmark_id, LOOKUP)[0].keys() == left
    finally:
        store.write(swap, kept=before)
        redrafted(store, benchmark_id, LOOKUP)

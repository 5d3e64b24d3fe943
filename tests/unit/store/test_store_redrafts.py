"""Redrafts in the database, and the answers that they and predictions start from."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specviz.analysis.k.answers import Answer, Key
from specviz.analysis.k.redraft import Redraft
from specviz.config import Prompt, RunConfig, Sampling
from specviz.sample import Sample
from specviz.store import BenchmarkLog, RoundRow, SampleRow, Store
from specviz.store.benchmarks.redrafts import (
    StepTime,
    StoredAnswer,
    put_redraft,
    read_answers,
    read_redraft,
    read_step_times,
)
from specviz.sweep.evidence import evidence
from specviz.trace import Fidelity
from tests.support.store.samples import CONFIG, new_run


def at(temperature: float = 0.0, concurrency: int = 1) -> RunConfig:
    return replace(CONFIG, sampling=Sampling(temperature), concurrency=concurrency)


def begun(store: Store, benchmark_id: str) -> BenchmarkLog:
    log = store.benchmark_log(benchmark_id)
    log.begin(
        name="Test",
        plan_toml="[[arms]]",
        planned=9,
        conversations=(),
        servers_at_once=1,
        hardware="a machine",
        git_revision=None,
    )
    return log


def reported(
    log: BenchmarkLog, arm: int, config: RunConfig, *rows: SampleRow, turn: int = 0, group: int = 0
) -> None:
    """One round of an arm; `turn` is its repetition, `group` the servers that are up with it."""
    where = f"{config.sampling.temperature}-{config.concurrency}-{turn}-{group}"
    name = f"{log.benchmark_id}-{arm}-{where}"
    run = new_run(run_id=name, group_id=log.benchmark_id, config=config)
    log.begin_round(run, RoundRow(f"r-{name}", name, arm, group, turn))
    for row in rows:
        log.add(replace(row, run_id=name, round_id=f"r-{name}"))


def request(index: int, text: str, turn: int = 0, **changes: Any) -> SampleRow:
    """A finished request of six tokens in a step of 3 that accepted 2, and two without a draft."""
    values = {
        **dict(request_id=uuid.uuid4().hex, fidelity=Fidelity.COUNTED, text=text),
        **dict(finish_reason="stop", ttft_ms=1.0, e2el_ms=3.0, chunk_ms=(1.0, 3.0)),
        **dict(chunk_tokens=(1, 5), token_ids=(4, 5, 6, 7, 8, 9), output_tokens=6),
        **dict(prompt_tokens=2, per_step_accepted=(2,), per_step_drafted=(3,)),
    }
    sample = Sample(**{**values, **changes})
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    prompt = Prompt("What is new?", "p1", "qa")
    return SampleRow("", "", index, turn, prompt, moment, "block", 1.0, 0.0, sample)


def failed(index: int) -> SampleRow:
    return replace(request(index, ""), sample=None, error="The stream broke.")


def read(store: Store, benchmark_id: str, arm: int, **where: Any) -> list[StoredAnswer]:
    return store.read(read_answers, benchmark_id, arm_index=arm, **where)


def test_answers_come_back_as_a_prediction_needs_them(store: Store) -> None:
    log = begun(store, "b")
    reported(log, 0, at(), request(3, "three"))
    log.end(status=new_run().status, error=None)
    (found,) = read(store, "b", 0)
    answer = Answer((3, 0), "qa", 6, 1.0, 3.0, (3,), (2,), num_chunks=2)
    assert found.answer.block is not None and found.answer.block.endswith("/block")
    found = replace(found, answer=replace(found.answer, block=None))
    assert found == StoredAnswer(answer, "three", (4, 5, 6, 7, 8, 9), server_group=0)
    assert (found.answer.num_undrafted, found.answer.num_steps) == (2, 3)


def test_only_one_arm_temperature_and_concurrency_is_read_in_order(store: Store) -> None:
    log, other = begun(store, "b"), begun(store, "other")
    reported(log, 0, at(), request(1, "again"), request(0, "again 0"), turn=1)
    reported(log, 0, at(), request(1, "b", turn=1), request(0, "c"), request(1, "a"))
    reported(log, 1, at(), request(0, "other arm"))
    reported(log, 0, at(0.7), request(0, "warm"))
    reported(log, 0, at(0.0, 4), request(0, "four"))
    reported(log, 0, at(0.7, 4), request(0, "warm four"))
    reported(other, 0, at(), request(0, "other benchmark"))
    for one in (log, other):
        one.end(status=new_run().status, error=None)

    def texts(arm: int = 0, **where: Any) -> list[str]:
        return [found.text for found in read(store, "b", arm, **where)]

    assert texts() == ["c", "a", "b", "again 0", "again"]
    assert texts(1) == ["other arm"]
    assert texts(temperature=0.7) == ["warm"]
    assert texts(concurrency=4) == ["four"]
    assert texts(temperature=0.7, concurrency=4) == ["warm four"]
    assert texts(2) == texts(temperature=0.3) == texts(concurrency=2) == []


def test_failed_requests_and_unknown_lengths_are_left_out(store: Store) -> None:
    log = begun(store, "b")
    unknown = request(1, "unknown", output_tokens=None)
    untold = request(2, "untold", per_step_accepted=None, per_step_drafted=None, token_ids=())
    reported(log, 0, at(), failed(0), unknown, untold)
    log.end(status=new_run().status, error=None)
    (found,) = read(store, "b", 0)
    assert found.text == "untold" and not found.token_ids
    assert (found.answer.drafted, found.answer.accepted) == ((), ())


@st.composite
def redraft(draw: st.DrawFn) -> Redraft:
    k = draw(st.integers(1, 32))
    drafted = draw(st.lists(st.integers(0, k), max_size=6))
    matched = tuple(draw(st.integers(0, number)) for number in drafted)
    length = len(drafted) + 1 if drafted else draw(st.integers(0, 1))
    return Redraft(k, length, tuple(drafted), matched)


keys = st.tuples(st.integers(0, 10**6), st.integers(0, 5))
redrafts = st.dictionaries(keys, redraft(), max_size=5)
times = st.lists(
    st.builds(StepTime, st.integers(0, 32), st.floats(1e-3, 1e6), st.integers(1, 10**6)),
    max_size=4,
    unique_by=lambda time: time.k,
)
SOME = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def put(store: Store, arm: int, answers: dict[Key, Redraft], timed: list[StepTime]) -> None:
    store.write(put_redraft, "b", arm_index=arm, answers=answers, times=timed)


def stored(store: Store, arm: int, benchmark_id: str = "b") -> tuple[Any, list[StepTime]]:
    which = {"benchmark_id": benchmark_id, "arm_index": arm}
    return store.read(read_redraft, **which), store.read(read_step_times, **which)


@SOME
@given(redrafts, times, redrafts, times)
def test_a_redraft_comes_back_and_takes_the_place_of_the_one_before(
    shared_store: Store,
    first: dict[Key, Redraft],
    timed: list[StepTime],
    second: dict[Key, Redraft],
    timed_again: list[StepTime],
) -> None:
    kept: tuple[dict[Key, Redraft], list[StepTime]] = (
        {(1, 0): Redraft(2, 2, (2,), (1,))},
        [StepTime(2, 9.5, 7)],
    )
    put(shared_store, 1, *kept)
    put(shared_store, 0, first, timed)
    assert stored(shared_store, 0) == (first, sorted(timed, key=lambda time: time.k))
    put(shared_store, 0, second, timed_again)
    assert stored(shared_store, 0) == (second, sorted(timed_again, key=lambda time: time.k))
    assert stored(shared_store, 1) == kept
    assert stored(shared_store, 0, "other") == ({}, [])


def test_what_was_not_redrafted_is_empty(store: Store) -> None:
    assert stored(store, 0) == ({}, [])


def test_a_prediction_starts_from_the_plain_decoding_beside_it(store: Store) -> None:
    """The second group of servers ran in an hour that was half as fast: the figures are the same
    as if all had run at once, and so are the step times of K 1."""
    log = begun(store, "hours")
    plain = {"per_step_accepted": (), "per_step_drafted": (), "chunk_tokens": (1,) * 6}
    for group, slow in ((0, 1.0), (1, 2.0)):
        chunk_ms = tuple(slow * ms for ms in (1.0, 3.0, 5.0, 7.0, 9.0, 11.0))
        times = {"ttft_ms": slow, "e2el_ms": 11 * slow, "chunk_ms": chunk_ms}
        reported(log, 0, at(), request(0, "plain", **plain, **times), group=group)
    reported(log, 1, at(), request(0, "K 1", e2el_ms=9.0, per_step_drafted=(1,),
                                   per_step_accepted=(1,)), group=0)  # fmt: skip
    reported(log, 2, at(), request(0, "K 3", ttft_ms=2.0, e2el_ms=16.0), group=1)
    log.end(status=new_run().status, error=None)
    found = evidence(store, "hours", {1: 1, 2: 3}, 0)
    assert found is not None and found.cost is not None
    assert [one.e2el_ms for one in found.plain.values()] == [22.0]
    (own,) = found.predictions([3], redrafted=False)
    assert own.speedup is not None and own.speedup.value == pytest.approx(22 / 16)
    assert found.cost.plain_ms == 4.0
    # K 1: one step that drafts and three that do not, 2 ms each, in 8 ms: 2 ms, here 4
    assert found.cost.at(1.0) == pytest.approx(4.0)

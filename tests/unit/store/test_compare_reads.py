"""Reads for the Compare page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from specviz.config import Message, Prompt, RunStatus
from specviz.prompts.sets import Conversation
from specviz.sample import Sample
from specviz.store import ArmRow, RoundRow, SampleRow, Store
from specviz.store.history.comparison import (
    read_answers,
    read_candidates,
    read_compared,
    read_compared_requests,
    read_compared_results,
)
from specviz.store.runs.tables import insert, update
from specviz.trace import Fidelity
from tests.support.store.samples import CONFIG, new_run, num_runs, record, request_events

AT = datetime(2026, 11, 1, tzinfo=UTC)
TALK = Conversation("talk", ("Hi", "And then?"), earlier=(Message("system", "Be brief."),))
PLAIN = Conversation("plain", ("What is new?",))


def put(store: Store, table: str, **row: Any) -> None:
    store.write(insert, table, row)


def delete(store: Store, table: str, key: str, value: str) -> None:
    row = {"deleted_at": datetime(2026, 11, 2)}
    store.write(update, table, row, key, value)


def benchmark(store: Store, benchmark_id: str = "bench") -> str:
    """One arm that answered a conversation of two turns and a plain prompt; returns its run."""
    log = store.benchmark_log(benchmark_id)
    log.begin(
        name="Mine", plan_toml="", planned=3, conversations=(TALK, PLAIN), servers_at_once=1,
        hardware="h", git_revision=None,
    )  # fmt: skip
    run = new_run(group_id=benchmark_id, config=CONFIG)
    log.arm(ArmRow(0, "arm & co", "embedded", "draft_model", 3, None, None, None, None, False, 1.0))
    round_ = RoundRow(f"round-{benchmark_id}", run.run_id, 0, 0, 0)
    log.begin_round(run, round_)
    for place, turn, text in ((0, 0, "Hi"), (0, 1, "And then?"), (1, 0, "What is new?")):
        prompt = Prompt(text)
        log.add(sample_row(run.run_id, round_.round_id, place, turn, prompt))
    log.end(RunStatus.FINISHED, None)
    return run.run_id


def sample_row(run_id: str, round_id: str, place: int, turn: int, prompt: Prompt) -> SampleRow:
    sample = Sample(
        f"{run_id}-{place}-{turn}", Fidelity.COUNTED, f"answer {turn}", "stop", 1.0, 4.0,
        (1.0, 4.0), (1, 3), (7, 8, 9, 10), 4, 2, (2,), (3,),
    )  # fmt: skip
    at = AT + timedelta(seconds=10 * place + turn)
    return SampleRow(run_id, round_id, place, turn, prompt, at, "block", 0.0, 0.0, sample)


def elsewhere(store: Store, key: str = "e", **more: Any) -> None:
    put(
        store, "elsewhere", elsewhere_id=key, name="old", tool="vllm bench serve", file_name="f",
        file_sha256="0", imported_at=datetime(2026, 11, 1), num_requests=9, document="{}",
        acceptance_rate_per_pos=[0.8, 0.5], **more,
    )  # fmt: skip


def test_runs_and_arms_come_in_the_order_asked_for(store: Store) -> None:
    live = new_run()
    record(store, live, request_events(2))
    arm = benchmark(store)
    delete(store, "runs", "run_id", live.run_id)
    found = store.read(read_compared, [arm, "none", live.run_id])
    first, second = found
    assert (first.run.run_id, first.arm, first.benchmark) == (arm, "arm & co", "Mine")
    assert (first.requests, first.prefix_caching, first.has_steps) == (3, False, False)
    assert (second.run.run_id, second.arm, second.has_steps) == (live.run_id, None, True)
    assert first.deleted_at is None and second.deleted_at is not None
    assert store.read(read_compared, []) == []


def test_a_prompt_is_the_same_in_a_benchmark_and_in_a_run_of_its_own(store: Store) -> None:
    live = new_run()
    record(store, live, request_events(2), prompt="What is new?")
    arms = [benchmark(store), benchmark(store, "again")]
    ids = [live.run_id, *arms]
    frame = store.read(read_compared_requests, ids)
    keys = {run_id: [*rows["prompt_key"]] for run_id, rows in frame.groupby("run_id")}
    assert keys[arms[0]] == keys[arms[1]]
    assert keys[live.run_id] == [keys[arms[0]][2]]
    assert len(set(keys[arms[0]])) == 3


def test_turns_belong_to_one_conversation_and_remember_what_came_before(store: Store) -> None:
    arm = benchmark(store)
    live = new_run()
    record(store, live, request_events(1), prompt="And then?")
    frame = store.read(read_compared_requests, [arm, live.run_id])
    talk, alone = frame[frame["run_id"] == arm], frame[frame["run_id"] == live.run_id]
    first, second, other = talk["conversation"]
    assert first == second != other
    assert alone["prompt_key"].iloc[0] not in set(talk["prompt_key"])
    assert [*talk["turn"]] == [0, 1, 0]
    assert [*talk["text_key"].duplicated()] == [False, False, True]
    assert [list(rates) for rates in talk["acceptance_rate_per_pos"]] == [[1.0, 1.0, 0.0]] * 3


def test_a_request_under_way_has_no_answer_yet(store: Store) -> None:
    run = new_run()
    store.start_run(run)
    recorder = store.recorder(run.run_id, Prompt("wait"))
    recorder.append(request_events(1)[0])
    frame = store.read(read_compared_requests, [run.run_id])
    assert len(frame) == 0
    assert store.read(read_compared, [run.run_id])[0].requests == 0


def test_answers_come_with_their_tokens_where_they_are_known(store: Store) -> None:
    live = new_run()
    record(store, live, request_events(1, "live"), prompt="Hi")
    arm = benchmark(store)
    ids = [f"{arm}-0-1", "live"]
    reported, plain = store.read(read_answers, ids)
    assert (reported.prompt, reported.text, reported.token_ids) == (
        "And then?",
        "answer 1",
        (7, 8, 9, 10),
    )
    assert (plain.prompt, plain.text, plain.token_ids) == ("Hi", "t0.0 t0.1 ", None)


def test_candidates_are_the_newest_without_the_deleted(store: Store) -> None:
    old, new, gone = (new_run(started_at=AT + timedelta(days=day)) for day in range(3))
    for run in (old, new, gone):
        record(store, run, request_events(1), prompt=f"prompt of {run.started_at.day}")
    delete(store, "runs", "run_id", gone.run_id)
    arm = benchmark(store)
    elsewhere(store)
    elsewhere(store, "deleted", deleted_at=datetime(2026, 11, 3))
    found = store.read(read_candidates, 10)
    assert [one.key for one in found] == [arm, new.run_id, old.run_id, "e"]
    assert (found[0].benchmark, found[0].prompt_start) == ("Mine", None)
    assert (found[1].benchmark, found[1].prompt_start) == (None, "prompt of 2")
    assert found[3].tool == "vllm bench serve"
    older = store.read(read_candidates, 1, [old.run_id, gone.run_id])
    assert [one.key for one in older] == [arm, old.run_id, "e"]
    delete(store, "benchmarks", "benchmark_id", "bench")
    assert [one.key for one in store.read(read_candidates, 1)] == [new.run_id, "e"]


def test_results_of_other_tools_are_shown_as_they_are(store: Store) -> None:
    elsewhere(store, method="eagle3", k=3, tpot_p50_ms=7.5)
    (row,) = store.read(read_compared_results, ["none", "e"])
    assert (row.tool, row.method, row.k, row.tpot_p50_ms) == ("vllm bench serve", "eagle3", 3, 7.5)
    assert row.acceptance_rate_per_pos == (0.8, 0.5)
    assert row.ttft_p50_ms is None and row.deleted_at is None


@pytest.mark.parametrize("hostile", ["'; DROP TABLE runs; --", "", "\u202e", "a" * 5000])
def test_an_id_is_only_ever_an_id(store: Store, hostile: str) -> None:
    assert store.read(read_compared, [hostile]) == []
    assert store.read(read_compared_results, [hostile]) == []
    assert store.read(num_runs) == 0

"""Benchmarks over a real store: complete, interleaved, paused, and arms that fail alone."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from dataclasses import replace
from queue import SimpleQueue

import pytest

from specviz.bench.board import arms_of_this_machine
from specviz.bench.load.load import Load
from specviz.bench.plan import schedule
from specviz.bench.plan.plan import PlanArm
from specviz.bench.progress import BenchPhase
from specviz.bench.results import document, results_of
from specviz.bench.runner import OpenTimedArm
from specviz.config import EngineKind, Prompt, RunConfig, RunStatus
from specviz.errors import RequestRefused, ServerStartFailed, ServerUnreachable, UsageError
from specviz.methods import Method
from specviz.prompts.sets import PromptSource
from specviz.store import Store
from specviz.store.benchmarks.reads import read_benchmark, read_benchmarks
from specviz.store.runs.runs import read_group
from tests.support.bench.boards import asked, assert_complete, ended, resumed, until
from tests.support.bench.plans import BASELINE, NGRAM
from tests.support.bench.samples import FakeEngine
from tests.support.store.samples import frame_of


def test_a_finished_plan_is_stored_completely(store: Store, new_board, new_plan) -> None:
    engines = {Method.BASELINE: FakeEngine(), Method.NGRAM: FakeEngine(counts=True)}
    plan = new_plan(
        BASELINE,
        NGRAM,
        prompts=4,
        loads=(Load(concurrency=4), Load(request_rate=500.0)),
        temperatures=(0.0, 0.8),
        repetitions=2,
        warmup=1,
    )
    board = new_board(engines)
    benchmark_id = board.start(plan)
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 2 * 4 * 2 * 2 * 2)
    assert all(engine.closed.is_set() for engine in engines.values())
    progress = board.progress(benchmark_id)
    assert progress.done == progress.planned == 64 and progress.left_s is None
    assert [(arm.phase, arm.done, arm.failed) for arm in progress.arms] == [("finished", 32, 0)] * 2
    assert progress.arms[1].draft_acceptance_rate == pytest.approx(0.5)
    results = results_of(store, benchmark_id)
    assert len(results.cells) == 8
    assert {cell.requests for cell in results.cells} == {8}
    assert [arm.baseline for arm in results.arms] == [0, 0]
    (check,) = results.checks
    assert check.agrees and check.rounds_without == 0 and check.num_drafts == 64
    json.dumps(document(store, benchmark_id), allow_nan=False)
    runs = store.read(read_group, benchmark_id)
    assert len(runs) == 8 and {run.status for run in runs} == {RunStatus.FINISHED}


def test_arms_take_turns_and_warm_up_is_not_measured(store: Store, new_board, new_plan) -> None:
    order: list[str] = []
    engines = {
        Method.BASELINE: FakeEngine(say=lambda prompt: order.append("A")),
        Method.NGRAM: FakeEngine(say=lambda prompt: order.append("B")),
    }
    board = new_board(engines)
    benchmark_id = board.start(new_plan(BASELINE, NGRAM, prompts=4, warmup=2))
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    assert "".join(order) == "AABB" + "ABBA" * 2
    assert_complete(store, benchmark_id, 8)
    assert [sampling.max_tokens for sampling in engines[Method.NGRAM].samplings[:3]] == [
        *(32, 32, 256)
    ]


def test_arms_take_turns_in_blocks_of_arrivals(
    monkeypatch: pytest.MonkeyPatch, new_board, new_plan
) -> None:
    monkeypatch.setattr(schedule, "ARRIVING_S", 0.001)
    order: list[str] = []
    engines = {
        Method.BASELINE: FakeEngine(say=lambda prompt: order.append("A")),
        Method.NGRAM: FakeEngine(say=lambda prompt: order.append("B")),
    }
    board = new_board(engines)
    plan = new_plan(BASELINE, NGRAM, prompts=48, loads=(Load(request_rate=5000.0),), repetitions=2)
    assert ended(board, board.start(plan)) is BenchPhase.FINISHED
    assert "".join(order[::16]) == "ABBAAB" + "BAABBA"


def test_only_sampled_answers_get_a_seed_and_each_its_own(new_board, new_plan) -> None:
    engine = FakeEngine()
    board = new_board({Method.BASELINE: engine})
    ended(board, board.start(new_plan(prompts=3, temperatures=(0.0, 1.0), repetitions=2)))
    greedy = [sampling.seed for sampling in engine.samplings if sampling.temperature == 0]
    drawn = [sampling.seed for sampling in engine.samplings if sampling.temperature == 1]
    assert set(greedy) == {None}
    assert len(set(drawn)) == len(drawn) == 6 and None not in drawn


def test_one_benchmark_runs_at_a_time(store: Store, new_board, new_plan) -> None:
    board = new_board({Method.BASELINE: FakeEngine(seconds=60)})
    first = board.start(new_plan())
    assert board.running() == first
    with pytest.raises(UsageError, match="Test is running"):
        board.start(new_plan())
    with pytest.raises(UsageError, match="Test is running"):
        board.resume(first)
    assert [row.benchmark_id for row in store.read(read_benchmarks)] == [first]


@pytest.mark.parametrize(
    "load",
    [
        Load(concurrency=3),
        Load(request_rate=10),
        pytest.param(Load(concurrency=1), marks=pytest.mark.slow),
    ],
)
def test_a_pause_sends_nothing_new_until_it_ends(
    store: Store, new_board, new_plan, load: Load
) -> None:
    started: SimpleQueue[str] = SimpleQueue()

    def pause_at_the_fifth(prompt: Prompt) -> None:
        if engine.answered.total() == 4:
            board.pause(started.get(timeout=60))

    engine = FakeEngine(say=pause_at_the_fifth)
    board = new_board({Method.BASELINE: engine})
    benchmark_id = board.start(new_plan(prompts=20, turns=2, loads=(load,)))
    started.put(benchmark_id)
    until(lambda: board.progress(benchmark_id).phase is BenchPhase.PAUSED)
    sent = len(engine.asked)
    time.sleep(0.15)
    assert (len(engine.asked), engine.under_way) == (sent, 0)
    assert sent < 40
    board.unpause(benchmark_id)
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 40)
    assert set(asked(engine).values()) == {1}


def test_a_pause_does_not_skip_the_warm_up(new_board, new_plan) -> None:
    engine = FakeEngine(seconds=0.05)
    board = new_board({Method.BASELINE: engine})
    benchmark_id = board.start(new_plan(prompts=2, warmup=4))
    until(lambda: engine.asked)
    board.pause(benchmark_id)
    until(lambda: board.progress(benchmark_id).phase is BenchPhase.PAUSED)
    board.unpause(benchmark_id)
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    assert len(engine.asked) == 4 + 2


def test_an_arm_that_cannot_open_ends_alone(store: Store, new_board, new_plan) -> None:
    failed = ServerStartFailed("The server did not start: out of memory.")
    board = new_board({Method.BASELINE: FakeEngine(), Method.NGRAM: failed})
    benchmark_id = board.start(new_plan(BASELINE, NGRAM))
    assert ended(board, benchmark_id) is BenchPhase.PARTIAL
    assert "out of memory" in store.read(read_benchmark, benchmark_id).error
    assert [arm.error for arm in results_of(store, benchmark_id).arms] == [None, str(failed)]
    assert store.read(read_benchmark, benchmark_id).finished == 6


@pytest.mark.parametrize("warmup", [0, 3])
def test_an_arm_that_answers_nothing_is_given_up(
    store: Store, new_board, new_plan, warmup: int
) -> None:
    def refuse(prompt: Prompt) -> None:
        raise RequestRefused("There is no such model.")

    lost = FakeEngine(say=refuse)
    board = new_board({Method.BASELINE: FakeEngine(), Method.NGRAM: lost})
    benchmark_id = board.start(new_plan(BASELINE, NGRAM, prompts=20, warmup=warmup))
    assert ended(board, benchmark_id) is BenchPhase.PARTIAL
    assert len(lost.asked) == (warmup or 5)
    note = board.progress(benchmark_id).arms[1].note
    assert "There is no such model." in note
    assert ("warm-up" in note) == bool(warmup)
    fine, given_up = results_of(store, benchmark_id).arms
    assert fine.finished == 20
    assert given_up.prefix_caching == "off"  # what its server said when it opened


def test_an_arm_that_cannot_be_opened_again_keeps_what_it_opened_as(
    store: Store, new_board, new_plan
) -> None:
    board = new_board({Method.BASELINE: FakeEngine(dead=ServerUnreachable("It is gone."))})
    benchmark_id = board.start(new_plan())
    assert ended(board, benchmark_id) is BenchPhase.PARTIAL
    board = new_board({Method.BASELINE: ServerStartFailed("The server did not start.")})
    assert resumed(board, benchmark_id) is BenchPhase.PARTIAL
    (arm,) = results_of(store, benchmark_id).arms
    assert (arm.error, arm.prefix_caching) == ("The server did not start.", "off")


@pytest.mark.parametrize("turns", [1, 3])
def test_a_refused_prompt_is_a_failed_request_of_a_plan_that_finishes(
    store: Store, new_board, new_plan, turns: int
) -> None:
    def refuse(prompt: Prompt) -> None:
        if prompt.text == "prompt 2.0":
            raise RequestRefused("The prompt does not fit.")

    board = new_board({Method.BASELINE: FakeEngine(say=refuse)})
    benchmark_id = board.start(new_plan(turns=turns))
    assert ended(board, benchmark_id) is BenchPhase.FINISHED
    row = store.read(read_benchmark, benchmark_id)
    assert (row.status, row.error) == (RunStatus.FINISHED, None)
    assert (row.planned, row.finished) == (6 * turns, 5 * turns)
    (cell,) = results_of(store, benchmark_id).cells
    assert (cell.requests, cell.failed) == (5 * turns, 1)
    samples = store.read(frame_of, "SELECT error FROM requests WHERE status = 'failed'")
    assert list(samples["error"]) == ["The prompt does not fit."]


@pytest.mark.parametrize("more", [0, 1])
def test_counters_that_disagree_are_told(store: Store, new_board, new_plan, more: int) -> None:
    board = new_board({Method.NGRAM: FakeEngine(counts=True, more=more)})
    benchmark_id = board.start(new_plan(NGRAM, prompts=4))
    ended(board, benchmark_id)
    (check,) = results_of(store, benchmark_id).checks
    assert check.agrees == (more == 0)
    assert (check.num_drafts, check.server_drafts) == (8, 8 * (1 + more))


def test_a_plan_that_cannot_run_is_refused_before_anything_is_stored(
    store: Store, new_board, new_plan
) -> None:
    board = new_board({})
    odd = PlanArm(replace(NGRAM.config, options={"shape": "tree"}))
    with pytest.raises(UsageError, match="drafts no trees"):
        board.start(new_plan(odd))
    with pytest.raises(UsageError):
        board.start(replace(new_plan(), prompts=PromptSource(file="/nowhere.jsonl")))
    assert store.read(read_benchmarks) == []


def test_skipped_entries_of_the_prompt_file_are_told(new_board, new_plan) -> None:
    board = new_board({Method.BASELINE: FakeEngine()})
    plan = new_plan(prompts=2)
    assert plan.prompts.file is not None
    with open(plan.prompts.file, "a", encoding="utf-8") as file:
        file.write("\n{}\n")
    benchmark_id = board.start(plan)
    ended(board, benchmark_id)
    progress = board.progress(benchmark_id)
    assert progress.planned == 2 and "1 of 3 entries are skipped" in progress.skipped


def test_a_server_that_is_starting_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    starting, cancelled = threading.Event(), []

    def start_server(spec: object, *, cancel: threading.Event, **others: object) -> None:
        starting.set()
        cancelled.append(cancel.wait(60))
        raise ServerStartFailed("the start was cancelled")

    monkeypatch.setattr("specviz.servers.launch.pool.start_server", start_server)

    async def cancel_while_it_starts(open_arm: OpenTimedArm) -> None:
        opening = asyncio.create_task(open_arm(RunConfig(EngineKind.VLLM, Method.BASELINE), print))
        await asyncio.to_thread(starting.wait, 60)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    with arms_of_this_machine() as open_arm:
        asyncio.run(cancel_while_it_starts(open_arm))
        assert cancelled == [True]

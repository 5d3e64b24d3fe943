"""Benchmarks that were cancelled, crashed, died or were cut off, and what resuming asks."""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from specviz.bench.board import BenchBoard
from specviz.bench.load.load import Load
from specviz.bench.progress import BenchPhase
from specviz.bench.results import results_of
from specviz.config import Prompt, RunStatus
from specviz.errors import EngineError, UsageError
from specviz.live.cancellation import Cancellation
from specviz.live.measuring_lock import MeasuringLock
from specviz.methods import Method
from specviz.store import Store, open_store
from specviz.store.benchmarks.reads import read_benchmark
from specviz.store.runs.runs import read_group
from tests.support.bench.boards import asked, assert_complete, ended, resumed, until
from tests.support.bench.plans import BASELINE, NGRAM
from tests.support.bench.samples import FakeEngine


def test_what_is_finished_cannot_be_resumed(new_board, new_plan) -> None:
    board = new_board({Method.BASELINE: FakeEngine()})
    benchmark_id = board.start(new_plan())
    ended(board, benchmark_id)
    with pytest.raises(UsageError, match="nothing is missing"):
        board.resume(benchmark_id)


def test_cancelling_is_the_users_also_where_all_that_was_sent_ends_first(
    store: Store, new_board, new_plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cancellation, "request", lambda self: None)  # whoever cancels is held up
    engine = FakeEngine()
    board = new_board({Method.BASELINE: engine})
    engine.say = lambda prompt: [board.cancel(one) for one in [board.running()] if one]
    benchmark_id = board.start(new_plan(prompts=5))
    assert ended(board, benchmark_id) is BenchPhase.CANCELLED
    assert store.read(read_benchmark, benchmark_id).status is RunStatus.CANCELLED


@pytest.mark.parametrize("concurrency", [1, 4])
def test_cancel_keeps_what_finished_and_resuming_asks_the_rest(
    store: Store, new_board, new_plan, concurrency: int
) -> None:
    engines = {Method.BASELINE: FakeEngine(seconds=0.05), Method.NGRAM: FakeEngine(seconds=0.05)}
    plan = new_plan(BASELINE, NGRAM, prompts=40, loads=(Load(concurrency=concurrency),))
    board = new_board(engines)
    benchmark_id = board.start(plan)
    until(lambda: len(engines[Method.NGRAM].asked) > 5)
    board.cancel(benchmark_id)
    assert ended(board, benchmark_id) is BenchPhase.CANCELLED
    row = store.read(read_benchmark, benchmark_id)
    assert row.status is RunStatus.CANCELLED and "resume" in row.error
    answered = sum((engine.answered for engine in engines.values()), Counter())
    assert 5 < row.finished == answered.total() < 80
    assert {run.status for run in store.read(read_group, benchmark_id)} == {RunStatus.CANCELLED}
    assert all(engine.closed.is_set() for engine in engines.values())

    later = {Method.BASELINE: FakeEngine(), Method.NGRAM: FakeEngine()}
    again = new_board(later)
    assert resumed(again, benchmark_id) is BenchPhase.FINISHED
    for method, engine in later.items():
        assert not asked(engine) & engines[method].answered
    assert_complete(store, benchmark_id, 80)
    assert again.progress(benchmark_id).done == 80
    assert {run.status for run in store.read(read_group, benchmark_id)} == {RunStatus.FINISHED}


def test_one_that_is_cancelled_before_it_begins_has_ended(store: Store, new_plan) -> None:
    go = threading.Event()

    @contextmanager
    def opening() -> Iterator[Any]:
        go.wait()
        yield None  # nothing is asked for

    board = BenchBoard(store, MeasuringLock(), opening)
    benchmark_id = board.start(new_plan())
    board.cancel(benchmark_id)
    go.set()
    assert board.wait(benchmark_id, 60)
    assert board.progress(benchmark_id).phase is BenchPhase.CANCELLED
    assert store.read(read_benchmark, benchmark_id).status is RunStatus.CANCELLED


def test_closing_ends_what_runs_as_interrupted(store: Store, new_board, new_plan) -> None:
    engine = FakeEngine(seconds=0.02)
    board = new_board({Method.BASELINE: engine})
    benchmark_id = board.start(new_plan(prompts=50))
    until(lambda: len(engine.asked) > 3)
    board.close()
    row = store.read(read_benchmark, benchmark_id)
    assert row.status is RunStatus.PARTIAL and "closed" in row.error
    assert resumed(new_board({Method.BASELINE: FakeEngine()}), benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 50)


def test_a_plan_with_whole_temperatures_is_resumed_where_it_was(
    store: Store, new_board, new_plan
) -> None:
    """0 and 0.0 are the same temperature to a plan, and must be to the names of its rounds."""
    engine = FakeEngine(seconds=0.02)
    board = new_board({Method.BASELINE: engine})
    benchmark_id = board.start(new_plan(prompts=20, temperatures=(0, 1)))
    until(lambda: len(engine.asked) > 3)
    board.cancel(benchmark_id)
    ended(board, benchmark_id)
    assert resumed(new_board({Method.BASELINE: FakeEngine()}), benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 40)


def test_an_engine_that_dies_ends_its_arm_alone(store: Store, new_board, new_plan) -> None:
    mortal = FakeEngine(counts=True)

    def die(prompt: Prompt) -> None:
        if len(mortal.asked) == 4:
            mortal.dead = EngineError("The engine core died.")
            raise mortal.dead

    mortal.say = die
    healthy = FakeEngine()
    board = new_board({Method.BASELINE: healthy, Method.NGRAM: mortal})
    benchmark_id = board.start(new_plan(BASELINE, NGRAM, prompts=10))
    assert ended(board, benchmark_id) is BenchPhase.PARTIAL
    assert len(mortal.asked) == 4
    assert healthy.answered.total() == 10
    progress = board.progress(benchmark_id)
    assert [arm.phase for arm in progress.arms] == ["finished", "failed"]
    assert progress.arms[1].note == "The engine core died."
    row = store.read(read_benchmark, benchmark_id)
    assert "ngram" in row.error and "The engine core died." in row.error
    arms = results_of(store, benchmark_id).arms
    assert [(arm.finished, arm.error) for arm in arms] == [(10, None), (3, "The engine core died.")]

    alive = FakeEngine(counts=True)
    again = new_board({Method.BASELINE: healthy, Method.NGRAM: alive})
    assert resumed(again, benchmark_id) is BenchPhase.FINISHED
    assert (healthy.answered.total(), alive.answered.total()) == (10, 7)
    assert_complete(store, benchmark_id, 20)
    results = results_of(store, benchmark_id)
    assert [arm.error for arm in results.arms] == [None, None]
    assert results.checks == ()  # the server counted a part of its round


def test_requests_that_failed_are_asked_again(store: Store, new_board, new_plan) -> None:
    def stumble(prompt: Prompt) -> None:
        if prompt.text == "prompt 1.0":
            raise EngineError("The stream broke.")

    board = new_board({Method.BASELINE: FakeEngine(say=stumble)})
    benchmark_id = board.start(new_plan())
    assert ended(board, benchmark_id) is BenchPhase.PARTIAL
    failed = store.read(read_benchmark, benchmark_id).error
    assert failed == "1 request failed: resume to send it again."
    later = FakeEngine()
    assert resumed(new_board({Method.BASELINE: later}), benchmark_id) is BenchPhase.FINISHED
    assert asked(later) == {"prompt 1.0": 1}
    assert_complete(store, benchmark_id, 6)


def test_the_time_budget_ends_it_and_resuming_gives_it_another(
    store: Store, new_board, new_plan
) -> None:
    def spend_the_budget(prompt: Prompt) -> None:
        if len(engine.asked) == 4:
            (bench,) = board._benches.values()
            bench.tally._began -= 2000.0

    engine = FakeEngine(say=spend_the_budget)
    board = new_board({Method.BASELINE: engine})
    benchmark_id = board.start(new_plan(prompts=12, time_budget_s=1000.0))
    assert ended(board, benchmark_id) is BenchPhase.PARTIAL
    row = store.read(read_benchmark, benchmark_id)
    assert "time budget" in row.error
    assert row.finished == 4
    assert resumed(board, benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 12)
    assert set(asked(engine).values()) == {1}


def test_after_a_crash_only_what_is_missing_is_asked(
    store: Store, new_board, new_plan, tmp_path: Path
) -> None:
    engines = {Method.BASELINE: FakeEngine(seconds=0.06), Method.NGRAM: FakeEngine(seconds=0.06)}
    board = new_board(engines)
    plan = new_plan(BASELINE, NGRAM, prompts=30, turns=2, loads=(Load(concurrency=3),))
    benchmark_id = board.start(plan)
    until(lambda: store.read(read_benchmark, benchmark_id).finished >= 20)
    copy = tmp_path / "crashed.duckdb"
    shutil.copy(store.path, copy)
    shutil.copy(f"{store.path}.wal", f"{copy}.wal")
    board.cancel(benchmark_id)
    ended(board, benchmark_id)
    with open_store(copy) as crashed:
        row = crashed.read(read_benchmark, benchmark_id)
        assert row.status is RunStatus.PARTIAL
        assert 20 <= row.finished < 120  # what readers saw was on disk
        later = {Method.BASELINE: FakeEngine(), Method.NGRAM: FakeEngine()}
        assert resumed(new_board(later, crashed), benchmark_id) is BenchPhase.FINISHED
        assert sum(len(engine.asked) for engine in later.values()) == 120 - row.finished
        assert_complete(crashed, benchmark_id, 120)


def test_what_could_not_be_saved_at_the_very_end_is_no_finished_benchmark(
    store: Store, new_board, new_plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every answer had come when the disk was full: it failed, and what is missing is asked."""

    def refuse(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    from specviz.store.benchmarks import log as benchmark_log

    with monkeypatch.context() as full:
        full.setattr(benchmark_log, "insert_samples", refuse)
        full.setattr(benchmark_log, "COMMIT_EVERY_S", 60.0)
        board = new_board({Method.BASELINE: FakeEngine()})
        benchmark_id = board.start(new_plan(prompts=3))
        assert ended(board, benchmark_id) is BenchPhase.FAILED
    row = store.read(read_benchmark, benchmark_id)
    assert row.status is RunStatus.FAILED
    assert row.error is not None and row.error.count("No space left on device") == 1
    assert resumed(board, benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 3)


def test_a_resumed_conversation_goes_on_behind_its_stored_answers(
    store: Store, new_board, new_plan
) -> None:
    def break_off(prompt: Prompt) -> None:
        if prompt.text == "prompt 1.1":
            raise EngineError("The stream broke.")

    board = new_board({Method.BASELINE: FakeEngine(say=break_off)})
    benchmark_id = board.start(new_plan(prompts=3, turns=3))
    assert ended(board, benchmark_id) is BenchPhase.PARTIAL
    later = FakeEngine()
    assert resumed(new_board({Method.BASELINE: later}), benchmark_id) is BenchPhase.FINISHED
    assert [prompt.text for prompt in later.asked] == ["prompt 1.1", "prompt 1.2"]
    assert [message["content"] for message in later.asked[0].messages] == [
        *("prompt 1.0", "answer to prompt 1.0", "prompt 1.1")
    ]
    assert_complete(store, benchmark_id, 9)


def test_a_defect_ends_it_with_its_name(
    store: Store, new_board, new_plan, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down(prompt: Prompt) -> None:
        if prompt.text == "prompt 3.0":
            raise RuntimeError("no such attribute")

    engine = FakeEngine(say=break_down)
    board = new_board({Method.BASELINE: engine})
    benchmark_id = board.start(new_plan(loads=(Load(concurrency=2),)))
    assert ended(board, benchmark_id) is BenchPhase.FAILED
    row = store.read(read_benchmark, benchmark_id)
    assert row.status is RunStatus.FAILED
    assert row.error == "RuntimeError: no such attribute"
    assert "Traceback" in caplog.text
    assert engine.closed.is_set()
    engine.say = lambda prompt: None
    assert resumed(board, benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 6)


def test_a_store_that_fails_ends_it_in_its_own_words(
    store: Store, new_board, new_plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full for a while: nothing that was answered by then is lost."""
    engine = FakeEngine(seconds=0.01)
    is_freed = False

    def write(*args: Any) -> None:
        if len(engine.asked) > 3 and not is_freed:
            raise OSError(28, "No space left on device")
        real(*args)

    from specviz.store.benchmarks import log as benchmark_log

    real = benchmark_log.insert_samples
    monkeypatch.setattr(benchmark_log, "insert_samples", write)
    board = new_board({Method.BASELINE: engine})
    benchmark_id = board.start(new_plan(prompts=50))
    until(lambda: board.progress(benchmark_id).phase.is_final)
    progress = board.progress(benchmark_id)
    assert progress.phase is BenchPhase.FAILED
    assert progress.error.count("No space left on device") == 1
    assert "Error:" not in progress.error
    is_freed = True
    assert resumed(board, benchmark_id) is BenchPhase.FINISHED
    assert_complete(store, benchmark_id, 50)

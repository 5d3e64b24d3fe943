"""How a request gets into the store while it runs, from one thread or many."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import pytest

from specviz.analysis.metrics import Metrics, summarise
from specviz.config import Prompt, RunStatus
from specviz.errors import StoreError
from specviz.store import Store, open_store
from specviz.store.history.history import read_history
from specviz.store.runs.runs import read_requests, read_run, read_trace
from specviz.trace import Fidelity, RequestStarted, Step, StepsRevised, fold
from tests.support.store.samples import frame_of, new_run, record, request_events, step


def until(condition: Callable[[], bool], timeout_s: float = 60.0) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.01)


def test_a_prompt_is_kept_before_the_engine_answers(store: Store) -> None:
    run = new_run()
    store.start_run(run)
    store.recorder(run.run_id, Prompt("Anyone there?"))
    until(lambda: len(store.read(read_requests, run.run_id)) == 1)
    (row,) = store.read(read_requests, run.run_id)
    assert row.prompt.text == "Anyone there?"
    assert (row.status, row.fidelity, row.metrics) == (RunStatus.RUNNING, None, None)
    with pytest.raises(StoreError, match="never took it"):
        store.read(read_trace, row.request_id)


def test_steps_are_on_disk_soon_after_they_arrive(store: Store) -> None:
    run = new_run()
    store.start_run(run)
    recorder = store.recorder(run.run_id, Prompt("p"))
    for event in request_events(3, "r")[:-1]:
        recorder.append(event)
    until(
        lambda: (
            bool(store.read(read_requests, run.run_id))
            and len(store.read(read_trace, "r").steps) == 3
        )
    )
    assert store.read(read_trace, "r") == recorder.trace
    assert recorder.error is None
    recorder.append(step(3))  # and again, from where the last flush ended
    until(lambda: len(store.read(read_trace, "r").steps) == 4)


def test_figures_of_a_finished_request_are_those_of_its_trace(store: Store) -> None:
    run, events = new_run(), request_events(4, "r")
    record(store, run, events)
    (row,) = store.read(read_requests, run.run_id)
    assert row.metrics == summarise(fold(events))
    assert (row.ttft_ms, row.e2el_ms, row.finish_reason) == (10.0, 40.0, "length")
    assert row.output_text == fold(events).text
    stored = store.read(read_run, run.run_id)
    assert stored.status is RunStatus.FINISHED
    assert stored.finished_at is not None and stored.finished_at > stored.started_at


def test_every_metric_has_a_column(store: Store) -> None:
    columns = set(store.read(frame_of, "SELECT * FROM requests").columns)
    assert {field.name for field in fields(Metrics)} <= columns


def test_every_column_says_what_it_means(store: Store) -> None:
    silent = store.read(
        frame_of,
        "SELECT table_name, column_name FROM duckdb_columns() "
        "WHERE comment IS NULL AND table_name IN ('runs', 'requests', 'steps', 'decisions')",
    )
    assert silent.empty, silent


def test_a_request_that_never_started_keeps_its_error(store: Store) -> None:
    run = new_run()
    store.start_run(run)
    store.recorder(run.run_id, Prompt("p")).finish(RunStatus.FAILED, error="nothing answers")
    store.finish_run(run.run_id, RunStatus.FAILED, error="nothing answers")
    (row,) = store.read(read_requests, run.run_id)
    assert (row.status, row.error, row.output_text) == (RunStatus.FAILED, "nothing answers", None)
    assert store.read(read_run, run.run_id).error == "nothing answers"


@pytest.mark.parametrize(
    "events",
    [
        [step(0)],
        [RequestStarted("r", Fidelity.TRACED)] * 2,
        [RequestStarted("r", Fidelity.TRACED), step(1), step(1)],
        [RequestStarted("r", Fidelity.TRACED), StepsRevised((step(2), step(0)), Fidelity.TRACED)],
    ],
)
def test_events_out_of_order_are_refused(store: Store, events: list[Step]) -> None:
    recorder = store.recorder("run", Prompt("p"))
    for event in events[:-1]:
        recorder.append(event)
    with pytest.raises(ValueError):
        recorder.append(events[-1])


def test_nothing_can_be_added_to_a_finished_request(store: Store) -> None:
    recorder = store.recorder("run", Prompt("p"))
    recorder.finish(RunStatus.CANCELLED)
    with pytest.raises(ValueError, match="finished"):
        recorder.append(RequestStarted("r", Fidelity.TRACED))


def test_an_id_that_is_taken_is_refused_and_the_first_request_stays(store: Store) -> None:
    first, second = new_run(), new_run()
    record(store, first, request_events(3, "same"))
    with pytest.raises(StoreError, match="same id to two requests"):
        record(store, second, request_events(1, "same"))
    assert len(store.read(read_trace, "same").steps) == 3
    with pytest.raises(StoreError, match="already"):
        store.start_run(first)


def test_an_unknown_run_cannot_be_finished(store: Store) -> None:
    with pytest.raises(StoreError, match="no run"):
        store.finish_run("nobody", RunStatus.FINISHED)


def test_many_recorders_at_once_lose_nothing_while_others_read(store: Store) -> None:
    num_threads, num_requests, num_steps = 4, 3, 10
    run = new_run()
    store.start_run(run)
    stop = threading.Event()
    seen: list[int] = []

    def write(thread: int) -> None:
        for number in range(num_requests):
            recorder = store.recorder(run.run_id, Prompt(f"prompt {thread} {number}"))
            for event in request_events(num_steps, f"{thread}-{number}"):
                recorder.append(event)
                time.sleep(0.0005)
            recorder.finish(RunStatus.FINISHED)

    def read() -> None:
        while not stop.is_set():
            for row in store.read(read_requests, run.run_id):
                if row.status is RunStatus.FINISHED:
                    assert len(store.read(read_trace, row.request_id).steps) == num_steps
            seen.append(store.read(read_history).rows[0].num_requests)

    with ThreadPoolExecutor(num_threads + 2) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for writing in [pool.submit(write, thread) for thread in range(num_threads)]:
            writing.result()
        stop.set()
        for reading in readers:
            reading.result()
    rows = store.read(read_requests, run.run_id)
    assert len(rows) == num_threads * num_requests
    for row in rows:
        assert store.read(read_trace, row.request_id) == fold(
            request_events(num_steps, row.request_id)
        )
        thread, number = row.request_id.split("-")
        assert row.prompt.text == f"prompt {thread} {number}"
    assert len(seen) > 1


def test_one_recorder_may_be_fed_and_ended_from_several_threads(store: Store) -> None:
    recorder = store.recorder("run", Prompt("p"))
    recorder.append(RequestStarted("r", Fidelity.TRACED))
    order = threading.Lock()
    next_index = iter(range(200))

    def feed() -> None:
        for _ in range(50):
            with order:
                recorder.append(step(next(next_index)))

    threads = [threading.Thread(target=feed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.finish(RunStatus.FINISHED)
    assert [each.index for each in store.read(read_trace, "r").steps] == list(range(200))


def test_closing_saves_what_is_queued(store: Store) -> None:
    run = new_run()
    store.start_run(run)
    recorder = store.recorder(run.run_id, Prompt("p"))
    recorder.append(RequestStarted("r", Fidelity.TRACED))
    recorder.append(step(0))
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.read(read_run, run.run_id)
    with pytest.raises(StoreError, match="closed"):
        recorder.finish(RunStatus.FINISHED)
    with open_store(store.path) as again:
        assert again.read(read_trace, "r").steps == (step(0),)
        assert again.read(read_run, run.run_id).status is RunStatus.PARTIAL

"""Benchmarks in the database: what is added comes back, what fails keeps the rest."""

from __future__ import annotations

import gzip
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.analysis.sample_metrics import metrics_of
from specviz.analysis.step_time.samples import mean_step_of
from specviz.analysis.step_time.step_time import StepTime
from specviz.config import Message, Prompt, RunStatus
from specviz.errors import StoreError
from specviz.prompts.sets import Conversation
from specviz.sample import LaneTimes, Sample
from specviz.store import ArmRow, BenchmarkLog, RoundRow, SampleRow, Store, open_store
from specviz.store.benchmarks import log as benchmark_log_module
from specviz.store.benchmarks.reads import (
    read_arms,
    read_benchmark,
    read_benchmarks,
    read_conversations,
    read_done,
    read_rounds,
    read_samples,
)
from specviz.store.history.filter import HistoryFilter
from specviz.store.history.history import read_history
from specviz.store.history.line import Kind
from specviz.store.runs.runs import read_group, read_run
from specviz.trace import Fidelity
from tests.support.properties import share
from tests.support.store.samples import (
    frame_of,
    moments,
    new_run,
    num_runs,
    record,
    request_events,
    texts,
    times_ms,
)

SCHEMA_1 = Path(__file__).with_name("data") / "schema-1.duckdb.gz"
HALF = "half \ud83d"
"""Half of a surrogate pair: no UTF-8 can hold it."""


def begun(
    store: Store, benchmark_id: str = "b", prompts: tuple[Conversation, ...] = (), planned: int = 9
) -> BenchmarkLog:
    """A benchmark of one arm with one round `r` of run `run-b`."""
    log = store.benchmark_log(benchmark_id)
    log.begin(
        name="Test",
        plan_toml="[[arms]]",
        planned=planned,
        conversations=prompts,
        servers_at_once=2,
        hardware="a machine",
        git_revision=None,
    )
    run = new_run(run_id=f"run-{benchmark_id}", group_id=benchmark_id)
    log.begin_round(run, RoundRow(f"r-{benchmark_id}", run.run_id, 0, 0, 0))
    return log


def sample(**changes: Any) -> Sample:
    fields = {
        "request_id": uuid.uuid4().hex,
        "fidelity": Fidelity.COUNTED,
        "text": "an answer",
        "finish_reason": "stop",
        "ttft_ms": 1.0,
        "e2el_ms": 3.0,
        "chunk_ms": (1.0, 3.0),
        "chunk_tokens": (1, 2),
        "token_ids": (4, 5, 6),
        "output_tokens": 3,
        "prompt_tokens": 2,
        "per_step_accepted": (1,),
        "per_step_drafted": (3,),
    }
    return Sample(**{**fields, **changes})


def row(
    reported: Sample | None, index: int = 0, benchmark_id: str = "b", **changes: Any
) -> SampleRow:
    fields = {
        "run_id": f"run-{benchmark_id}",
        "round_id": f"r-{benchmark_id}",
        "prompt_index": index,
        "turn": 0,
        "prompt": Prompt("What is new?", "p1", "qa", 7),
        "started_at": datetime(2030, 1, 1, tzinfo=UTC),
        "block": "block",
        "sent_ms": 1.5,
        "queue_ms": 0.25,
        "sample": reported,
        "error": None if reported else "The stream broke.",
    }
    return SampleRow(**{**fields, **changes})


def kept(store: Store, benchmark_id: str = "b") -> list[int]:
    return [done.prompt_index for done in store.read(read_done, benchmark_id)]


small = st.integers(0, 32)
steps = st.none() | st.lists(st.tuples(small, small), max_size=5)


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    counts = draw(steps)
    chunks = draw(st.lists(st.floats(0.0, 1e6, width=32), max_size=5))
    ids = draw(st.lists(st.integers(0, 2**31 - 1), max_size=5))
    return Sample(
        request_id=uuid.uuid4().hex,
        fidelity=draw(st.sampled_from(Fidelity)),
        text=draw(texts),
        finish_reason=draw(texts),
        ttft_ms=draw(times_ms),
        e2el_ms=draw(times_ms),
        chunk_ms=tuple(chunks),
        chunk_tokens=tuple(draw(small) for _ in chunks) if ids else (),
        token_ids=tuple(ids),
        output_tokens=draw(st.none() | st.integers(0, 2**31 - 1)),
        prompt_tokens=draw(st.none() | st.integers(0, 2**31 - 1)),
        per_step_accepted=None if counts is None else tuple(a for a, _ in counts),
        per_step_drafted=None if counts is None else tuple(d for _, d in counts),
        is_chain=draw(st.booleans()),
        lanes=draw(st.none() | st.builds(LaneTimes, times_ms, times_ms, times_ms)),
    )


@given(st.lists(st.tuples(st.none() | samples(), moments, times_ms, texts), max_size=4))
@share(0.5)
def test_samples_come_back_as_they_were(shared_store: Store, reported: list[Any]) -> None:
    benchmark_id = uuid.uuid4().hex
    log = begun(shared_store, benchmark_id)
    for index, (one, at, ms, error) in enumerate(reported):
        log.add(
            row(
                one,
                index,
                benchmark_id,
                started_at=at,
                sent_ms=ms,
                error=None if one else error,
                prompt=Prompt(f"{error}.", error, error, index or None),
            )
        )
    log.end(RunStatus.FINISHED, None)
    stored = shared_store.read(
        frame_of,
        "SELECT * FROM samples JOIN requests USING (request_id) WHERE benchmark_id = ? "
        "ORDER BY prompt_index",
        [benchmark_id],
    ).to_dict("records")
    assert len(stored) == len(reported)
    for (one, at, ms, error), found in zip(reported, stored, strict=True):
        assert found["sent_ms"] == ms
        assert found["started_at"].to_pydatetime() == at.astimezone(UTC).replace(tzinfo=None)
        assert (found["prompt"], found["prompt_id"]) == (f"{error}.", error)
        if one is None:
            assert (found["status"], found["error"]) == ("failed", error)
            assert missing(found["token_ids"]) and missing(found["ttft_ms"])
            continue
        assert (found["status"], missing(found["error"])) == ("finished", True)
        assert (found["request_id"], found["output_text"]) == (one.request_id, one.text)
        assert found["finish_reason"] == one.finish_reason
        assert found["is_chain"] == one.is_chain
        for name in ("draft_ms", "overlapped_draft_ms", "verify_ms"):
            kept_ms = found[name]
            assert missing(kept_ms) if one.lanes is None else kept_ms == getattr(one.lanes, name)
        for name in ("chunk_ms", "chunk_tokens"):
            assert tuple(found[name]) == getattr(one, name)
        for name in ("per_step_accepted", "per_step_drafted"):
            assert none_or_tuple(found[name]) == getattr(one, name)
        assert (none_or_tuple(found["token_ids"]) or ()) == one.token_ids
        figures = metrics_of(one)
        for name in ("ttft_ms", "tpot_ms", "output_tokens", "num_accepted_tokens", "alpha"):
            wanted = getattr(figures, name)
            assert missing(found[name]) if wanted is None else found[name] == wanted, name


def missing(value: Any) -> bool:
    return value is None or value != value


def none_or_tuple(value: Any) -> tuple[Any, ...] | None:
    is_missing = value is None or (isinstance(value, float) and value != value)
    return None if is_missing else tuple(value)


def test_the_mean_step_is_that_of_the_requests_that_report_it(store: Store) -> None:
    """Two requests of one step after the first, and one of a server that reports no times."""
    log = begun(store)
    for index, lanes in enumerate([LaneTimes(0.5, 0.25, 1.0), LaneTimes(0.25, 0.0, 1.0), None]):
        log.add(row(sample(lanes=lanes, e2el_ms=3.0 if lanes else 99.0), index))
    log.end(RunStatus.FINISHED, None)
    assert mean_step_of(store.read(read_samples, "b")) == StepTime(
        num_steps=2,
        tokens_per_step=2.0,
        step_ms=2.0,
        tpot_ms=1.0,
        draft_ms=0.375,
        overlapped_draft_ms=0.125,
        verify_ms=1.0,
        other_ms=0.625,
    )


def test_frames_tell_what_is_not_known_from_zero(store: Store) -> None:
    log = begun(store)
    log.add(row(sample(per_step_accepted=(), per_step_drafted=()), 0))
    log.add(row(sample(per_step_accepted=None, per_step_drafted=None, output_tokens=None), 1))
    log.add(row(None, 2))
    log.end(RunStatus.PARTIAL, "Something is missing.")
    frame = store.read(read_samples, "b").set_index("prompt_index")
    assert frame["num_drafts"][0] == 0 and frame["num_drafts"].isna().tolist() == [
        False,
        True,
        True,
    ]
    assert frame["output_tokens"].isna().tolist() == [False, True, True]
    assert frame["status"].tolist() == ["finished", "finished", "failed"]
    assert frame["concurrency"].tolist() == [1, 1, 1]
    rounds = store.read(read_rounds, "b")
    assert rounds["server_drafts"].isna().all() and not rounds["complete"].any()


def test_equal_answers_have_equal_hashes(store: Store) -> None:
    log = begun(store)
    for index, ids in enumerate([(1, 2), (1, 2), (2, 1), ()]):
        log.add(row(sample(token_ids=ids), index))
    log.end(RunStatus.FINISHED, None)
    frame = store.read(read_samples, "b").sort_values("prompt_index")
    one, same, other, _ = frame["output_hash"].tolist()
    assert one == same != other


@pytest.mark.parametrize("text", ["a\0b", "\0", "שלום مرحبا", "\u202eabc", "👩‍👩‍👧‍👦", "e\u0301"])
def test_odd_text_is_kept(store: Store, text: str) -> None:
    said = Conversation(text, (text + "?", "and?"), text, 5, (Message("system", text),))
    log = begun(store, prompts=(said, said))
    log.add(row(sample(text=text), prompt=Prompt(text + "?", text, text)))
    log.add(row(None, 1, error=text))
    log.arm(ArmRow(0, text, "vllm", "ngram", 3, text, None, None, None, None, 1.5, text))
    log.end(RunStatus.PARTIAL, text)
    (done,) = store.read(read_done, "b")
    assert done.answer == text
    assert store.read(read_conversations, "b") == (said, said)
    assert store.read(read_arms, "b")[0].error == text
    assert store.read(read_benchmark, "b").error == text


@pytest.mark.parametrize(
    "odd",
    [
        row(sample(text=HALF), 1),
        row(sample(finish_reason=HALF), 1),
        row(None, 1, error=HALF),
        row(sample(), 1, prompt=Prompt(HALF)),
    ],
)
def test_half_a_surrogate_pair_is_refused_and_keeps_no_other_request_back(
    store: Store, odd: SampleRow
) -> None:
    log = begun(store)
    log.add(row(sample(), 0))
    with pytest.raises(StoreError, match="not valid Unicode"):
        log.add(odd)
    log.add(row(sample(), 2))
    log.end(RunStatus.FINISHED, None)
    assert sorted(kept(store)) == [0, 2]


def test_after_a_failed_commit_adding_raises_and_the_rows_are_written_at_the_end(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    log = begun(store)
    with monkeypatch.context() as broken:
        broken.setattr(benchmark_log_module, "insert_samples", full)
        log.add(row(sample(), 0))
        log.arm(ArmRow(0, "a", "vllm", None, None, None, None, None, None, None, None))  # a commit
        with pytest.raises(StoreError, match="No space left"):
            log.add(row(sample(), 1))
        with pytest.raises(StoreError, match="No space left"):
            log.end(RunStatus.FAILED, "The disk is full.")
    assert kept(store) == []
    assert store.read(read_benchmark, "b").error == "The disk is full."
    log.end(RunStatus.PARTIAL, None)
    assert kept(store) == [0]


def test_a_benchmark_counts_what_finished(store: Store) -> None:
    log = begun(store)
    for index in range(3):
        log.add(row(sample() if index else None, index))
    log.end(RunStatus.PARTIAL, "why")
    found = store.read(read_benchmark, "b")
    assert (found.planned, found.finished, found.status) == (9, 2, RunStatus.PARTIAL)
    assert (found.error, found.hardware, found.servers_at_once) == ("why", "a machine", 2)
    assert found.finished_at is not None and found.finished_at >= found.started_at
    assert store.read(read_run, "run-b").status is RunStatus.PARTIAL
    with pytest.raises(StoreError, match="no benchmark other"):
        store.read(read_benchmark, "other")


def test_reopening_forgets_what_failed_of_this_benchmark_only(store: Store) -> None:
    for name in ("b", "c"):
        log = begun(store, name)
        log.add(row(sample(), 0, name))
        log.add(row(None, 1, name))
        log.end(RunStatus.PARTIAL, "why")
    store.benchmark_log("b").reopen()
    found = store.read(read_benchmark, "b")
    assert (found.status, found.error, found.finished_at) == (RunStatus.RUNNING, None, None)
    counts = store.read(
        frame_of, "SELECT benchmark_id, count(*) AS n FROM samples GROUP BY 1 ORDER BY 1"
    )
    assert counts["n"].tolist() == [1, 2]
    assert store.read(frame_of, "SELECT count(*) AS n FROM requests")["n"][0] == 3


def test_a_benchmark_that_a_dead_process_left_is_partial_with_its_requests(path: Path) -> None:
    with open_store(path) as store:
        log = begun(store)
        log.add(row(sample(), 4))
        log.arm(ArmRow(0, "a", "vllm", None, None, None, None, None, None, None, None))
    with open_store(path) as store:
        found = store.read(read_benchmark, "b")
        assert (found.status, found.finished, found.finished_at) == (RunStatus.PARTIAL, 1, None)
        assert "ended before" in found.error
        assert store.read(read_run, "run-b").status is RunStatus.PARTIAL
        assert kept(store) == [4]


def test_runs_of_benchmarks_have_no_line_of_their_own(store: Store) -> None:
    begun(store)
    record(store, new_run(run_id="live"), request_events(1))
    runs = HistoryFilter(kinds=(Kind.RUN,))
    assert [row.item.item_id for row in store.read(read_history, runs).rows] == ["live"]
    assert store.read(num_runs) == 1
    assert [run.run_id for run in store.read(read_group, "b")] == ["run-b"]


def test_benchmarks_are_listed_newest_first(store: Store) -> None:
    for name in ("old", "middle", "new"):
        begun(store, name)
    assert [found.benchmark_id for found in store.read(read_benchmarks)] == ["new", "middle", "old"]
    assert [found.benchmark_id for found in store.read(read_benchmarks, limit=1)] == ["new"]


def test_a_database_of_schema_1_takes_a_benchmark(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(gzip.decompress(SCHEMA_1.read_bytes()))
    with open_store(path) as store:
        assert store.read(read_benchmarks) == []
        assert store.read(num_runs) == 2
        log = begun(store)
        log.add(row(sample(), 3))
        log.end(RunStatus.FINISHED, None)
    with open_store(path) as store:
        assert (store.read(read_benchmark, "b").status, kept(store)) == (RunStatus.FINISHED, [3])
        assert store.read(num_runs) == 2


def test_every_new_column_says_what_it_is(store: Store) -> None:
    columns = store.read(
        frame_of,
        "SELECT table_name, column_name FROM duckdb_columns() WHERE comment IS NULL AND "
        "table_name IN ('benchmarks', 'benchmark_prompts', 'benchmark_arms', 'rounds', 'samples')",
    )
    assert columns.empty, columns.to_string()

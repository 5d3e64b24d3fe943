"""Results are worked out once per state of a benchmark, however many pages ask."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from specviz import runtime
from specviz.analysis.benchmark.results import Results
from specviz.bench.kept_results import KEPT, KeptResults
from specviz.config import RunStatus
from specviz.errors import StoreError
from specviz.report import export
from specviz.store import Store
from specviz.store.benchmarks.reads import read_benchmarks
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.store.exchange import Format
from specviz.store.shipped import SAMPLE, Shipped
from specviz.store.shown import hide_sample
from tests.support.store.made import made

STORE = cast(Store, None)
ROW = BenchmarkRow(
    "b0", "a sweep", RunStatus.RUNNING, datetime(2026, 11, 1, tzinfo=UTC), None, None, "", 9, 3, 1,
    None, None, "0",
)  # fmt: skip


class Counting:
    """Works out empty results, and counts how often it was asked about each benchmark."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, store: Store, row: BenchmarkRow) -> Results:
        self.asked.append(row.benchmark_id)
        return Results((), (), (), (), (), ())


def test_once_until_a_request_is_added_or_the_status_changes() -> None:
    kept = KeptResults(counting := Counting())
    assert not kept.has(ROW)
    assert kept.of(STORE, ROW) is kept.of(STORE, ROW)
    assert kept.has(ROW)
    for changed in (replace(ROW, finished=4), replace(ROW, status=RunStatus.FINISHED)):
        assert not kept.has(changed)
        kept.of(STORE, changed)
    assert len(counting.asked) == 3


def test_the_benchmark_that_nobody_looked_at_for_longest_goes_first() -> None:
    kept = KeptResults(counting := Counting())
    rows = [replace(ROW, benchmark_id=f"b{number}") for number in range(KEPT + 1)]
    for row in [*rows[:KEPT], rows[0], rows[KEPT]]:
        kept.of(STORE, row)
    assert [kept.has(row) for row in rows] == [True, False, *[True] * (KEPT - 1)]
    assert len(counting.asked) == KEPT + 1


def test_a_second_page_waits_for_the_first() -> None:
    begun, go_on, counting = threading.Event(), threading.Event(), Counting()

    def slow(store: Store, row: BenchmarkRow) -> Results:
        begun.set()
        assert go_on.wait(60)
        return counting(store, row)

    kept = KeptResults(slow)
    with ThreadPoolExecutor(2) as pages:
        first = pages.submit(kept.of, STORE, ROW)
        assert begun.wait(60)
        second = pages.submit(kept.of, STORE, ROW)
        assert not kept.has(ROW)
        go_on.set()
        assert first.result(60) is second.result(60)
    assert counting.asked == ["b0"]


@pytest.mark.parametrize("is_hidden", [False, True])
def test_the_samples_are_worked_out_where_pages_will_show_it(
    tmp_path: Path, is_hidden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "leave_out_of_collections", lambda: None)  # of other tests, too
    with runtime.opened(made(tmp_path / "runs.duckdb"), sample=SAMPLE) as current:
        if is_hidden:
            current.store.write(hide_sample, datetime(2026, 11, 1, tzinfo=UTC))
        counting, warm_up = Counting(), threading.Thread(target=lambda: None)
        warm_up.start()
        kept = replace(current, results=KeptResults(counting))
        runtime.finish_start(kept, after=warm_up).join(60)
        assert len(counting.asked) == (0 if is_hidden else 3)


def test_what_the_start_leaves_waits_for_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside it a run was ten times as slow."""
    done: list[str] = []
    monkeypatch.setattr(runtime, "leave_out_of_collections", lambda: done.append("collected"))
    monkeypatch.setattr(runtime, "write_default_models", lambda: done.append("written"))

    def work_out(store: Store, row: BenchmarkRow) -> Results:
        done.append("worked out")
        return Counting()(store, row)

    with runtime.opened(made(tmp_path / "runs.duckdb"), sample=SAMPLE) as current:
        warm_up = threading.Thread(target=lambda: None)
        warm_up.start()
        with current.measuring_lock.hold_off():
            start = runtime.finish_start(replace(current, results=KeptResults(work_out)), warm_up)
            start.join(0.5)
            assert (start.is_alive(), done) == (True, [])
        start.join(60)
    assert done == ["written", *["worked out"] * 3, "collected"]


def test_an_html_file_has_the_results_that_its_page_has(tmp_path: Path) -> None:
    shipped, kept = Shipped(SAMPLE), KeptResults(counting := Counting())
    with closing(shipped):
        sample = shipped.store()
        assert sample is not None
        row, *_ = sample.read(read_benchmarks, limit=1)
        kept.of(sample, row)
        export(sample, [row.benchmark_id], Format.HTML, tmp_path / "report.html", kept.of)
    assert counting.asked == [row.benchmark_id]


def test_a_failure_is_reported_and_not_kept() -> None:
    answers = iter([StoreError("There is no benchmark b0."), None])

    def work_out(store: Store, row: BenchmarkRow) -> Results:
        if (error := next(answers)) is not None:
            raise error
        return Counting()(store, row)

    kept = KeptResults(work_out)
    with pytest.raises(StoreError, match="no benchmark"):
        kept.of(STORE, ROW)
    kept.of(STORE, ROW)
    assert kept.has(ROW)

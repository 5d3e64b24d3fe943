"""A database as any earlier program left it opens, with its runs as they were."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from specviz.analysis.benchmark.disturbance import disturbance_of, in_figures
from specviz.analysis.k.redraft import Redraft
from specviz.config import RunStatus
from specviz.errors import StoreError
from specviz.store import Store, migrations, open_store
from specviz.store.benchmarks.reads import read_benchmarks, read_samples
from specviz.store.benchmarks.redrafts import read_redraft
from specviz.store.runs.runs import read_group, read_requests, read_trace
from specviz.trace import (
    Allowed,
    Channel,
    EmittedToken,
    ExtraBytes,
    Fidelity,
    Lane,
    Origin,
    RequestFinished,
    RequestStarted,
    Span,
    fold,
)
from tests.support.store.samples import frame_of, new_run, num_runs, record, request_events, step

DATA = Path(__file__).parents[1] / "data"
SCHEMAS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
"""Each file was written by the program of its time: a finished run and an interrupted one; from
schema 3 a benchmark with a request that finished and one that failed, from 4 a redraft, from 5 a
name, a note and tags, from 6 another tool's results and a saved query."""


def _quick(schema: int) -> bool:
    return schema in (SCHEMAS[0], SCHEMAS[-1])  # every migration, and the last one alone


@pytest.fixture(
    params=[pytest.param(n, marks=[] if _quick(n) else pytest.mark.slow) for n in SCHEMAS]
)
def schema(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def old_file(path: Path, schema: int) -> Path:
    path.parent.mkdir()
    path.write_bytes(gzip.decompress((DATA / f"schema-{schema}.duckdb.gz").read_bytes()))
    return path


def test_there_is_a_stored_file_of_every_earlier_schema() -> None:
    assert len(SCHEMAS) == len(migrations.names()) - 1


def test_the_runs_of_every_schema_are_as_they_were(old_file: Path) -> None:
    for _ in range(2):  # migrated, and opened again
        with open_store(old_file) as store:
            assert store.read(read_trace, "whole-1") == fold(request_events(3, "whole-1"))
            assert store.read(read_trace, "interrupted-1").steps == (step(0), step(1, accepted=3))
            assert {run.status for run in store.read(read_group, "old")} == {
                RunStatus.FINISHED,
                RunStatus.PARTIAL,
            }
            (row,) = store.read(read_requests, "interrupted")
            assert (row.prompt.prompt_id, row.extra_bytes) == ("p1", None)


def test_benchmarks_and_what_people_added_are_as_they_were(old_file: Path, schema: int) -> None:
    with open_store(old_file) as store:
        benchmarks = store.read(read_benchmarks)
        redraft = store.read(read_redraft, "b", 0)
        (reported,) = store.read(
            frame_of, "SELECT name, note, tags FROM runs WHERE run_id = 'whole'"
        ).itertuples(index=False)
    assert [(row.planned, row.finished) for row in benchmarks] == ([(9, 1)] if schema >= 3 else [])
    assert redraft == ({(0, 0): Redraft(3, 4, (3, 2, 1), (1, 1, 0))} if schema >= 4 else {})
    assert reported.name == ("A name" if schema >= 5 else None) or pd.isna(reported.name)
    assert list(reported.tags if schema >= 5 else []) == (["a", "b"] if schema >= 5 else [])


def test_requests_of_blocks_that_nobody_watched_are_in_the_figures(
    old_file: Path, schema: int
) -> None:
    with open_store(old_file) as store:
        samples = store.read(read_samples, "b")
        assert len(in_figures(samples)) == len(samples) == (2 if schema >= 3 else 0)
        assert samples["is_disturbed"].isna().all() and disturbance_of(samples) is None


def test_figures_under_their_new_names_are_as_they_were(old_file: Path, schema: int) -> None:
    with open_store(old_file) as store:
        (speed,) = store.read(
            frame_of, "SELECT output_throughput FROM requests WHERE request_id = 'whole-1'"
        )["output_throughput"]
        assert speed == 200.0
        if schema < 6:
            return
        (other,) = store.read(frame_of, "SELECT * FROM elsewhere").to_dict("records")
        assert other["output_throughput"] == pytest.approx(87.004, abs=1e-3)
        assert other["request_throughput"] == pytest.approx(5.849, abs=1e-3)
        (saved,) = store.read(frame_of, "SELECT sql FROM saved_queries")["sql"]
        assert saved == "SELECT max(output_throughput) FROM requests"
        assert store.read(frame_of, saved).iloc[0, 0] == 1000.0


def test_migrated_tables_are_those_of_a_new_database(old_file: Path, tmp_path: Path) -> None:
    columns = (
        "SELECT table_name, column_name, data_type, is_nullable, comment FROM duckdb_columns() "
        "WHERE NOT internal ORDER BY ALL"
    )
    with open_store(old_file) as old, open_store(tmp_path / "new.duckdb") as new:
        assert old.read(frame_of, columns).equals(new.read(frame_of, columns))


def test_a_migrated_database_takes_what_is_new(old_file: Path) -> None:
    reported = ExtraBytes(weights=4096, kv_cache=512, buffers=0)
    events = [
        RequestStarted("new-1", Fidelity.TRACED),
        replace(
            step(0),
            spans=(Span(Lane.DRAFT, 0.0, 2.5), Span(Lane.VERIFY, 1.5, 9.0)),
            skipped_layers=("attention 3", "mlp 5"),
            matched_tokens=2,
            allowed=Allowed(2, "policy: any request, 1 running"),
            emitted=(
                EmittedToken(0, 5, "Hm", Origin.TARGET, Channel.REASONING),
                EmittedToken(1, 6, "Yes", Origin.TARGET),
            ),
        ),
        RequestFinished((1,), 1.0, 10.0, "stop", reported),
    ]
    with open_store(old_file) as store:
        record(store, new_run(run_id="new"), events)
    with open_store(old_file) as store:
        assert store.read(read_trace, "new-1") == fold(events)
        (row,) = store.read(read_requests, "new")
        assert row.extra_bytes == reported
        assert (row.output_text, row.side_text) == ("Yes", "Hm")
        assert store.read(num_runs) == 3


def test_a_request_whose_engine_reports_no_memory_has_none(store: Store) -> None:
    record(store, new_run(run_id="r"), request_events(1, "r-1"))
    assert store.read(read_requests, "r")[0].extra_bytes is None
    assert store.read(read_trace, "r-1").extra_bytes is None


def test_every_column_says_what_it_is(store: Store) -> None:
    columns = store.read(
        frame_of,
        "SELECT table_name, column_name FROM duckdb_columns() "
        "WHERE comment IS NULL AND NOT internal AND table_name <> 'specviz_migrations'",
    )
    assert columns.empty, columns.to_string()


def test_a_failed_migration_leaves_the_file_as_it_was(
    old_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied = migrations.names()
    monkeypatch.setattr(migrations, "names", lambda: [*applied, "9000_missing.sql"])
    with pytest.raises(StoreError):
        open_store(old_file)
    monkeypatch.undo()
    with open_store(old_file) as store:
        assert store.read(num_runs) == 2

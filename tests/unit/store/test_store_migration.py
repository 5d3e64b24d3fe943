"""A database as specviz 0.1 with schema 1 left it opens, with its runs as they were."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from store_samples import new_run, record, request_events, step

from specviz.config import RunStatus
from specviz.errors import StoreError
from specviz.store import Store, migrations, open_store
from specviz.trace import ExtraBytes, Fidelity, Lane, RequestFinished, RequestStarted, Span, fold

SCHEMA_1 = Path(__file__).with_name("data") / "schema-1.duckdb.gz"
"""Written by the program before migration 0002: a finished run and an interrupted one."""


@pytest.fixture
def old_file(path: Path) -> Path:
    path.parent.mkdir()
    path.write_bytes(gzip.decompress(SCHEMA_1.read_bytes()))
    return path


def test_the_runs_of_schema_1_are_as_they_were(old_file: Path) -> None:
    for _ in range(2):  # migrated, and opened again
        with open_store(old_file) as store:
            assert store.trace("whole-1") == fold(request_events(3, "whole-1"))
            assert store.trace("interrupted-1").steps == (step(0), step(1, accepted=3))
            assert {run.status for run in store.group("old")} == {
                RunStatus.FINISHED,
                RunStatus.PARTIAL,
            }
            (row,) = store.requests_of("interrupted")
            assert (row.prompt.prompt_id, row.extra_bytes) == ("p1", None)


def test_a_migrated_database_takes_what_is_new(old_file: Path) -> None:
    told = ExtraBytes(weights=4096, kv_cache=512, buffers=0)
    events = [
        RequestStarted("new-1", Fidelity.TRACED),
        replace(
            step(0),
            spans=(Span(Lane.DRAFT, 0.0, 2.5), Span(Lane.VERIFY, 1.5, 9.0)),
            skipped_layers=("attention 3", "mlp 5"),
            matched_tokens=2,
        ),
        RequestFinished((1,), 1.0, 10.0, "stop", told),
    ]
    with open_store(old_file) as store:
        record(store, new_run(run_id="new"), events)
    with open_store(old_file) as store:
        assert store.trace("new-1") == fold(events)
        assert store.requests_of("new")[0].extra_bytes == told
        assert store.count_runs() == 3


def test_a_request_whose_engine_tells_no_memory_has_none(store: Store) -> None:
    record(store, new_run(run_id="r"), request_events(1, "r-1"))
    assert store.requests_of("r")[0].extra_bytes is None
    assert store.trace("r-1").extra_bytes is None


def test_every_column_says_what_it_is(store: Store) -> None:
    columns = store.query(
        "SELECT table_name, column_name FROM duckdb_columns() "
        "WHERE comment IS NULL AND table_name IN ('runs', 'requests', 'steps', 'decisions')"
    )
    assert columns.empty, columns.to_string()


def test_a_failed_migration_leaves_schema_1(
    old_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "names", lambda: ["0001_runs.sql", "0002_missing.sql"])
    with pytest.raises(StoreError):
        open_store(old_file)
    monkeypatch.undo()
    with open_store(old_file) as store:
        assert store.count_runs() == 2

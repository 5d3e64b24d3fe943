"""The store of a team: a DuckLake with a real PostgreSQL as its catalog."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specviz.config import Prompt, RunStatus
from specviz.engines.replay import events_of
from specviz.errors import StoreError
from specviz.store import RecordedRequest, Store, migrations, open_store
from specviz.store.file import lake
from specviz.store.file.lake import Lake, LakeDatabase
from specviz.store.runs.runs import read_requests, read_run, read_trace
from specviz.trace import Trace, fold
from tests.support.children import environment, program
from tests.support.store.postgres import PASSWORD, Postgres
from tests.support.store.samples import frame_of, new_run, num_runs, record, request_events, traces

# Behaviour of every store, here of a lake: what updates, deletes, joins or makes a table to do so.
from tests.unit.store.test_store_benchmarks import (  # noqa: F401
    test_reopening_forgets_what_failed_of_this_benchmark_only,
)
from tests.unit.store.test_store_ingest import test_a_run_is_ingested_whole_or_not_at_all  # noqa: F401
from tests.unit.store.test_store_recorder import test_every_column_says_what_it_means  # noqa: F401
from tests.unit.store.test_store_round_trip import (
    test_steps_saved_in_several_flushes_are_revised_too,  # noqa: F401
)
from tests.unit.store.test_store_runs import test_a_run_in_the_list_sums_its_requests  # noqa: F401


@pytest.fixture
def place(postgres: Postgres, files: Path, empty: str) -> Lake:
    """A lake of the test's own, without runs."""
    return postgres.copy(empty, files)


@pytest.fixture
def store(place: Lake) -> Iterator[Store]:
    with open_store(place) as opened:
        yield opened


WRITER = """
    import sys, time
    from pathlib import Path
    from specviz.config import RunStatus
    from specviz.store import RecordedRequest, open_store
    from specviz.store.location import parse_location
    from tests.support.store.samples import new_run, record, request_events
    from specviz.config import Prompt
    from datetime import UTC, datetime
    text, name, go = sys.argv[1:]
    print("ready", flush=True)
    while not Path(go).exists():
        time.sleep(0.01)
    with open_store(parse_location(text)) as store:
        reported = request_events(5, "reported")
        same = RecordedRequest(Prompt("p"), tuple(reported), RunStatus.FINISHED, datetime.now(UTC))
        print(store.ingest(new_run(run_id="same"), [same]))
        for run in range(2):
            record(store, new_run(run_id=f"{name}.{run}"), request_events(30, f"{name}.{run}"))
"""


@pytest.mark.slow
def test_three_processes_that_make_and_fill_one_lake_lose_nothing(
    postgres: Postgres, tmp_path: Path
) -> None:
    postgres.create("shared")
    text, go = postgres.text("shared", tmp_path / "files"), tmp_path / "go"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", program(WRITER), text, name, str(go)],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b", "c")
    ]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    go.touch()
    reported = [writer.communicate(timeout=100) for writer in writers]
    assert [error for _, error in reported] == ["", "", ""]
    # under `python -c` DuckDB draws progress bars, as in an interactive session
    assert sorted(out.splitlines()[-1] for out, _ in reported) == ["False", "False", "True"]
    with open_store(postgres.lake("shared", tmp_path / "files")) as store:
        counts = store.read(
            frame_of,
            "SELECT (SELECT count(*) FROM runs WHERE status = 'finished') AS runs, "
            "(SELECT count(DISTINCT request_id) FROM requests) AS requests, "
            "(SELECT count(*) FROM steps) AS steps, (SELECT count(*) FROM decisions) AS decisions",
        )
        assert counts.values.tolist() == [[6, 7, 6 * 30 + 5, 3 * (6 * 30 + 5)]]
        applied = store.read(frame_of, "SELECT name FROM specviz_migrations ORDER BY name")
        assert list(applied["name"]) == migrations.names()
        for name, run in itertools.product("abc", range(2)):
            expected = fold(request_events(30, f"{name}.{run}"))
            assert store.read(read_trace, f"{name}.{run}") == expected


@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(traces(), min_size=4, max_size=8, unique_by=lambda trace: trace.request_id))
def test_any_trace_is_read_as_it_was_written(store: Store, reported: list[Trace]) -> None:
    # DuckLake cannot look for NUL
    reported = [trace for trace in reported if "\0" not in trace.request_id]
    run = new_run()
    requests = [
        RecordedRequest(Prompt("p"), tuple(events_of(one)), RunStatus.FINISHED, run.started_at)
        for one in reported
    ]
    assert store.ingest(run, requests)
    assert [store.read(read_trace, one.request_id) for one in reported] == reported


def test_a_run_of_another_writer_goes_on(store: Store) -> None:
    run = new_run()
    store.start_run(run)
    with open_store(store.location) as other:
        assert other.read(read_run, run.run_id).status is RunStatus.RUNNING
        other.announce("http://127.0.0.1:1")  # nobody owns it
    store.finish_run(run.run_id, RunStatus.FINISHED)


def test_a_run_that_was_silent_for_too_long_is_partial_with_what_arrived(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = new_run(group_id="dead")
    store.start_run(run)
    recorder = store.recorder(run.run_id, Prompt("p"))
    for event in request_events(2, "silent")[:-1]:
        recorder.append(event)
    store.start_run(new_run(group_id="dead"))  # commits what is queued
    monkeypatch.setattr("specviz.store.store.FORGOTTEN", timedelta(0))
    with open_store(store.location) as other:
        assert other.read(read_run, run.run_id).status is RunStatus.PARTIAL
        (row,) = other.read(read_requests, run.run_id)
    assert row.metrics is not None
    assert (row.status, row.metrics.num_steps) == (RunStatus.PARTIAL, 2)


def test_small_files_are_merged_and_the_replaced_ones_removed(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lake, "COMPACT_FILES", 2)
    monkeypatch.setattr(lake, "KEEP", "-1 day")
    postgres.create("scattered")
    place = postgres.lake("scattered", tmp_path)
    runs = [new_run() for _ in range(3)]
    with open_store(place) as store:
        for run in runs:
            record(store, run, request_events(3, f"request of {run.run_id}"))
        database = LakeDatabase(place)
        try:
            before = _files(database)
            paths = [Path(path) for path in _paths(database)]
            database.compact()
            after = _files(database)
        finally:
            database.close()
        assert before["steps"] == before["decisions"] == 3
        assert before["runs"] == 3
        assert after["steps"] == after["decisions"] == after["runs"] == 1
        assert not any(path.exists() for path in paths)
        for run in runs:
            assert store.read(read_run, run.run_id).status is RunStatus.FINISHED
            expected = fold(request_events(3, f"request of {run.run_id}"))
            assert store.read(read_trace, f"request of {run.run_id}") == expected
        record(store, new_run(), request_events(2))


def _files(database: LakeDatabase) -> dict[str, int]:
    with database.cursor() as cursor:
        rows = cursor.execute(
            "SELECT table_name, file_count + delete_file_count FROM ducklake_table_info('lake')"
        ).fetchall()
    return {str(name): int(count) for name, count in rows}


def _paths(database: LakeDatabase) -> list[str]:
    with database.cursor() as cursor:
        rows = cursor.execute("SELECT DISTINCT filename FROM steps").fetchall()
    return [str(path) for (path,) in rows]


def test_a_commit_that_others_spoil_is_tried_again_but_not_for_ever(
    place: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lake.time, "sleep", lambda _: None)
    database = LakeDatabase(place)
    other = LakeDatabase(place)
    spoilt = 0

    def rename(to: str) -> Callable[[duckdb.DuckDBPyConnection], None]:
        return lambda cursor: cursor.execute("UPDATE saved_queries SET name = ?", [to]) and None

    def spoil(times: int) -> Callable[[duckdb.DuckDBPyConnection], None]:
        def write(cursor: duckdb.DuckDBPyConnection) -> None:
            nonlocal spoilt
            rename("mine")(cursor)
            if spoilt < times:
                spoilt += 1
                with other.cursor() as late:  # out of turn
                    rename(f"theirs {spoilt}")(late)

        return write

    try:
        database.change(
            lambda cursor: (
                cursor.execute("INSERT INTO saved_queries VALUES ('q', 's', now())") and None
            )
        )
        database.change(spoil(2))
        with database.cursor() as cursor:
            assert cursor.execute("SELECT name FROM saved_queries").fetchall() == [("mine",)]
        with pytest.raises(StoreError, match="try again when they are done"):
            database.change(spoil(100))
        assert spoilt == 2 + lake.ATTEMPTS
    finally:
        other.close()
        database.close()


@pytest.mark.slow
def test_who_waits_too_long_for_its_turn_is_told(
    store: Store, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = LakeDatabase(store.location)  # type: ignore[arg-type]
    monkeypatch.setattr(lake, "_TAKE_TURN", lake._TAKE_TURN.replace("60s", "100ms", 1))
    try:
        with (
            database.cursor() as cursor,
            lake.my_turn(cursor, lake.CATALOG),
            pytest.raises(StoreError, match="has been writing to the shared store"),
        ):
            store.start_run(new_run())
    finally:
        database.close()
    store.start_run(new_run())


def test_a_catalog_that_was_restarted_is_found_again(store: Store, postgres: Postgres) -> None:
    record(store, new_run(), request_events(2))
    postgres.sql(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != pg_backend_pid() "
        "AND backend_type = 'client backend'",
    )
    record(store, new_run(), request_events(2))
    assert store.read(num_runs) == 2


@pytest.mark.parametrize(
    ("wrong", "reported"),
    [
        ({"password": "hunter2"}, "password authentication failed"),
        ({"database": "nowhere"}, 'database "nowhere" does not exist'),
        ({"host": "/tmp/no socket here"}, "No such file or directory"),
        ({"files": "elsewhere"}, "keeps its files elsewhere"),
    ],
)
def test_a_lake_that_cannot_be_opened_is_one_sentence_without_the_password(
    postgres: Postgres, files: Path, empty: str, wrong: dict[str, str], reported: str
) -> None:
    place = postgres.lake(
        wrong.get("database", empty),
        files / wrong.get("files", ""),
        wrong.get("password", PASSWORD),
    )
    if "host" in wrong:
        catalog = place.catalog.replace(str(postgres.folder), f"'{wrong['host']}'")
        place = lake.Lake(catalog, place.files)
    with pytest.raises(StoreError, match=reported) as caught:
        open_store(place)
    _is_a_sentence(caught.value)


@pytest.mark.slow
def test_a_lake_of_a_newer_specviz_is_refused(place: Lake) -> None:
    with open_store(place) as store:
        store.write(
            lambda cursor: (
                cursor.execute("INSERT INTO specviz_migrations VALUES ('9999_later.sql', NULL)")
                and None
            )
        )
    with pytest.raises(StoreError, match=r"newer specviz \(it knows 9999_later\.sql\)") as caught:
        open_store(place)
    _is_a_sentence(caught.value)


def _is_a_sentence(error: BaseException | None) -> None:
    assert str(error).endswith(".") and "\n" not in str(error)
    while error is not None:  # a traceback would show what an error came from
        assert PASSWORD not in str(error) and "hunter2" not in str(error)
        assert "it\\'s secret" not in str(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)

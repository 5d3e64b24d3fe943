"""What a user's query may ask, how the limits work one by one, and that others go on meanwhile."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from reading_statements import READING
from store_samples import new_run, num_runs, record, request_events

from specviz.errors import StoreError, UsageError
from specviz.store import Store, open_store
from specviz.store.sql import sandbox
from specviz.store.sql.result import Column, SqlResult, document
from specviz.store.sql.sandbox import interrupted_after, read_only, run_sql

RUNS = 3
LONG = "SELECT count(*) FROM range(30000) a, range(20000) b WHERE hash(a.range + b.range) = 0"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("answers") / "runs.duckdb") as opened:
        for index in range(RUNS):
            record(opened, new_run(run_id=f"run{index}"), request_events(4))
        yield opened


@pytest.fixture
def unguarded(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the guard let everything pass."""
    monkeypatch.setattr(sandbox, "checked", lambda cursor, sql: sql)


@pytest.mark.parametrize("sql", READING)
def test_what_reads_is_answered(store: Store, sql: str) -> None:
    result = run_sql(store, sql)
    assert result.columns
    assert result.elapsed_ms > 0
    json.dumps(document(result), allow_nan=False)


def test_columns_rows_and_types(store: Store) -> None:
    result = run_sql(store, "SELECT run_id, k FROM runs ORDER BY run_id LIMIT 2")
    assert result.columns == (Column("run_id", "VARCHAR"), Column("k", "SMALLINT"))
    assert result.rows == (("run0", 3), ("run1", 3))
    assert not result.truncated


@pytest.mark.parametrize(("limit", "truncated"), [(1, True), (RUNS - 1, True), (RUNS, False)])
def test_the_row_limit(store: Store, limit: int, truncated: bool) -> None:
    result = run_sql(store, "FROM runs", limit_rows=limit)
    assert (len(result.rows), result.truncated) == (limit, truncated)


@pytest.mark.parametrize("limit", [0, -1, 100_001])
def test_a_row_limit_that_is_none(store: Store, limit: int) -> None:
    with pytest.raises(UsageError, match=r"1 to 100,000 rows"):
        run_sql(store, "FROM runs", limit_rows=limit)


def test_times_with_a_zone_come_as_text(store: Store) -> None:
    result = run_sql(
        store,
        "SELECT TIMESTAMPTZ '2026-01-02 03:04:05+00' AS a, n AS a, [TIMESTAMPTZ '2026-01-02'] AS b "
        "FROM range(5000) t(n) ORDER BY -n; -- the last first",
        limit_rows=2,
    )
    assert [row[1] for row in result.rows] == [4999, 4998]
    assert all(str(row[0]).startswith("2026-01-0") for row in result.rows)
    assert [(column.name, column.type) for column in result.columns] == [
        ("a", "TIMESTAMP WITH TIME ZONE"),
        ("a", "BIGINT"),
        ("b", "TIMESTAMP WITH TIME ZONE[]"),
    ]


def test_values_that_json_does_not_have() -> None:
    result = SqlResult(
        (Column("a", "x"),),
        ((float("nan"), -float("inf"), b"\xff", timedelta(seconds=1), {1: (2,)}, 2**70, None),),
        False,
        1.26,
    )
    assert document(result) == {
        "columns": [{"name": "a", "type": "x"}],
        "rows": [["nan", "-Infinity", "ff", "0:00:01", {"1": [2]}, 2**70, None]],
        "truncated": False,
        "elapsed_ms": 1.3,
    }


@pytest.mark.usefixtures("unguarded")
@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM runs RETURNING *",
        "INSERT INTO runs SELECT * FROM runs",
        "CREATE TABLE loot AS SELECT 1",
        "DROP TABLE runs",
        "FROM read_text('/etc/passwd')",
        "COPY runs TO '/tmp/specviz-loot.csv'",
        "SET threads = 3",
        "ATTACH ':memory:' AS loot; CREATE TABLE loot.a AS FROM runs",
        "LOAD httpfs",
    ],
)
def test_without_the_guard_the_other_walls_hold(store: Store, sql: str) -> None:
    with pytest.raises(StoreError):
        run_sql(store, sql)
    assert store.read(num_runs) == RUNS
    assert not Path("/tmp/specviz-loot.csv").exists()


def test_a_transaction_that_reads_and_is_rolled_back(store: Store) -> None:
    with store.cursor() as cursor:
        with pytest.raises(duckdb.Error, match="read-only"), read_only(cursor):
            cursor.execute("DELETE FROM runs")
        with read_only(cursor):
            assert cursor.execute("SELECT count(*) FROM runs").fetchone() == (RUNS,)
            cursor.execute("CREATE TEMP TABLE loot AS SELECT 1")
        with pytest.raises(duckdb.CatalogException, match="loot"):
            cursor.execute("FROM loot")
        cursor.begin()  # fails inside a transaction


def test_the_watchdog_interrupts_until_the_query_ends(store: Store) -> None:
    with store.cursor() as cursor:
        with (
            pytest.raises(duckdb.InterruptException),
            interrupted_after(cursor, 0.05, threading.Event()),
        ):
            time.sleep(0.12)  # the first interrupts come before the query
            cursor.execute(LONG).fetchone()
        time.sleep(3 * sandbox.INTERRUPT_EVERY_S)
        assert cursor.execute("SELECT 1").fetchone() == (1,)


def test_a_long_query_ends_with_a_sentence_and_others_go_on_meanwhile(store: Store) -> None:
    told: list[str] = []

    def ask() -> None:
        with pytest.raises(StoreError) as raised:
            run_sql(store, LONG, timeout_s=0.6)
        told.append(str(raised.value))

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.1)
    record(store, new_run(run_id="meanwhile"), request_events(1))
    assert run_sql(store, "SELECT status FROM runs WHERE run_id = 'meanwhile'").rows == (
        ("finished",),
    )
    assert thread.is_alive()
    thread.join()
    assert told == ["The query was stopped, because it took longer than 0.6 s: ask for less."]
    store.write(lambda cursor: cursor.execute("DELETE FROM runs WHERE run_id = 'meanwhile'"))


def test_who_waits_can_stop_the_query_and_ask_the_next_one_at_once(store: Store) -> None:
    calls: list[float] = []

    def leave() -> None:
        calls.append(time.monotonic())
        if len(calls) == 2:
            raise KeyError("another page was opened")

    began = time.monotonic()
    with pytest.raises(KeyError, match="another page"):
        run_sql(store, LONG, timeout_s=20, while_waiting=leave)
    assert run_sql(store, "SELECT 1").rows == ((1,),)
    assert time.monotonic() - began < 3
    assert calls[1] - calls[0] < 0.5
    assert not sandbox._left_behind


def test_a_query_that_does_not_stop_is_left_behind(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = threading.Event()

    def stubborn(cursor: duckdb.DuckDBPyConnection, sql: str) -> str:
        hold.wait(5)
        return sql

    monkeypatch.setattr(sandbox, "GRACE_S", 0.05)
    with monkeypatch.context() as patched:
        patched.setattr(sandbox, "checked", stubborn)
        with pytest.raises(StoreError, match=r"longer than 0\.05 s; it is still being stopped"):
            run_sql(store, LONG, timeout_s=0.05)
    with pytest.raises(StoreError, match="earlier query has not stopped"):
        run_sql(store, "SELECT 1")
    assert store.read(num_runs) == RUNS
    hold.set()
    for thread in sandbox._left_behind:
        thread.join(5)
    assert run_sql(store, "SELECT 1").rows == ((1,),)


def test_a_result_too_large_to_show(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "RESULT_BYTES", 10_000)
    with pytest.raises(StoreError, match="larger than 0 MB: ask for fewer rows"):
        run_sql(store, "SELECT repeat('x', 1000), [repeat('y', 1000)] FROM range(10)")
    assert len(run_sql(store, "SELECT repeat('x', 100) FROM range(10)").rows) == 10


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT run_idd FROM runs", 'Referenced column "run_idd" not found'),
        ("SELECT 'x'::INT", "Could not convert string 'x' to INT32"),
        ("SELECT error(E'a\\x1b[31mb\\nc')", "a␛[31mb"),
        ("SELECT error('\u202e')", "‹U+202E›"),
        ("SELECT 1 FROM runs GROUP BY k HAVING depth > 1", "depth"),
    ],
)
def test_a_failure_is_one_printable_sentence(store: Store, sql: str, says: str) -> None:
    with pytest.raises(StoreError) as raised:
        run_sql(store, sql)
    told = str(raised.value)
    assert told.startswith("The query failed: ") and says in told and told.endswith(".")
    assert told.isprintable()


def test_errors_name_no_path_of_this_machine() -> None:
    owner = SimpleNamespace(places=("/home/eve b/data/runs.duckdb", "/home/eve b/data"))
    for text in (
        'Could not write "/home/eve b/data/runs.duckdb.tmp/block": no space',
        "Cannot list /home/eve b/data: denied",
        "Cannot open file /home/other/eve.db: denied",
    ):
        told = sandbox._message(duckdb.IOException(text), "SELECT 1", owner, 1)
        assert "eve" not in told and "data" not in told


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("FROM rusn", 'no table "rusn": did you mean runs?'),
        ("SELECT lenght('a')", '"lenght" may not be called in a query: did you mean length?'),
        ("PIVOT runs ON method", "PIVOT … ON column IN"),
        ("DELETE FROM runs", "DELETE is refused, because queries only read"),
        ("FROM read_csv('x')", 'The table function "read_csv" is refused'),
        ("SELECT lpad('a', 5)", '"lpad" is refused, because no time limit can stop it'),
        ("SELECT ?", "write the value in its place"),
        ("SELEC 1", 'not SQL that DuckDB can parse: syntax error at or near "SELEC"'),
    ],
)
def test_a_refusal_says_why(store: Store, sql: str, says: str) -> None:
    with pytest.raises(UsageError) as raised:
        run_sql(store, sql)
    assert says in str(raised.value)


def test_a_fatal_error_does_not_break_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fatal(cursor: duckdb.DuckDBPyConnection, sql: str) -> str:
        raise duckdb.FatalException("FATAL Error: invalidated")

    with open_store(tmp_path / "runs.duckdb") as store:
        record(store, new_run(), request_events(1))
        with monkeypatch.context() as patched:
            patched.setattr(sandbox, "checked", fatal)
            with pytest.raises(StoreError, match="invalidated"):
                run_sql(store, "SELECT 1")
        assert run_sql(store, "SELECT count(*) FROM runs").rows == ((1,),)
        record(store, new_run(), request_events(1))


@contextmanager
def a_macro(store: Store, definition: str) -> Iterator[None]:
    store.write(lambda cursor: cursor.execute(f"CREATE MACRO {definition}"))
    yield
    kind = "MACRO TABLE" if "AS TABLE" in definition else "MACRO"
    store.write(lambda cursor: cursor.execute(f"DROP {kind} {definition.split('(')[0]}"))


@pytest.mark.parametrize(
    ("definition", "sql"),
    [
        ("upper(x) AS current_setting(x)", "SELECT upper('threads')"),
        ("range(x) AS TABLE FROM duckdb_settings()", "FROM range(1)"),
        ("mine() AS 1", "SELECT mine()"),
    ],
)
def test_a_macro_that_a_file_brings_along_is_refused(
    store: Store, definition: str, sql: str
) -> None:
    with a_macro(store, definition), pytest.raises(UsageError, match=r'"(upper|range|mine)" '):
        run_sql(store, sql)


def test_a_view_that_a_file_brings_along_is_refused(store: Store) -> None:
    store.write(lambda cursor: cursor.execute("CREATE VIEW loot AS FROM duckdb_settings()"))
    with pytest.raises(UsageError, match='no table "loot"'):
        run_sql(store, "FROM loot")
    store.write(lambda cursor: cursor.execute("DROP VIEW loot"))

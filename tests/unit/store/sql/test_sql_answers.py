"""What a user's query may ask, how the limits work one by one, and that others go on meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from specviz.errors import StoreError, UsageError
from specviz.store import Store, open_store
from specviz.store.sql import child, processes
from specviz.store.sql.result import Column, SqlResult, document
from specviz.store.sql.sandbox import run_sql
from tests.support.children import run_python
from tests.support.sql.hostile.bombs import STUBBORN
from tests.support.sql.reading_statements import READING
from tests.support.store.made import made
from tests.support.store.samples import new_run, record, request_events

RUNS = 3
LONG = "SELECT count(*) FROM range(30000) a, range(20000) b WHERE hash(a.range + b.range) = 0"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(made(tmp_path_factory.mktemp("answers") / "runs.duckdb")) as opened:
        for index in range(RUNS):
            record(opened, new_run(run_id=f"run{index}"), request_events(4))
        yield opened


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


UNGUARDED = [
    "DELETE FROM runs RETURNING *",
    "INSERT INTO runs SELECT * FROM runs",
    "CREATE TABLE loot AS SELECT 1",
    "DROP TABLE runs",
    "FROM read_text('/etc/passwd')",
    "COPY runs TO '/tmp/specviz-loot.csv'",
    "SET threads = 3",
    "ATTACH ':memory:' AS loot; CREATE TABLE loot.a AS FROM runs",
    "LOAD httpfs",
]


def test_without_the_guard_the_other_walls_hold(store: Store, tmp_path: Path) -> None:
    copies, own = tmp_path / "copies", tmp_path / "own"
    own.mkdir()
    with store._database.at_rest() as path:
        (copies / "1").mkdir(parents=True)
        shutil.copy(path, copies / "1" / "runs.duckdb")
    (tmp_path / "secret").write_text("4711")
    found = run_python(
        """
        import json, socket, specviz
        from pathlib import Path
        from specviz.errors import StoreError
        from specviz.store.sql import child
        child.checked = lambda cursor, sql: sql
        copy, own, secret, statements = sys.argv[1:]
        data = child.Data(Path(own))
        data.open({"place": {"file": copy}})
        request = {"limit_rows": 9, "memory": 1 << 30, "hidden": []}
        for sql in json.loads(statements):
            try:
                print("ran", child._answered(data, {**request, "sql": sql}))
            except StoreError as error:
                print("failed")
        for reach in (
            lambda: open(secret),
            lambda: open("/etc/passwd"),
            lambda: open(Path(specviz.__file__).parents[1] / "README.md"),
            lambda: open(copy, "r+"),
            lambda: open("/proc/%d/environ" % __import__("os").getppid()),
            lambda: socket.create_connection(("127.0.0.1", 9), 1),
        ):
            try:
                print("reached", reach())
            except PermissionError:
                print("failed")
        """,
        copies / "1" / "runs.duckdb",
        own,
        tmp_path / "secret",
        json.dumps(UNGUARDED),
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.split("\n") == [*["failed"] * (len(UNGUARDED) + 6), ""], found.stdout


def test_an_answer_has_what_was_committed_before_the_question(tmp_path: Path) -> None:
    with open_store(made(tmp_path / "runs.duckdb")) as store:
        counted = "SELECT count(*) FROM runs"
        assert run_sql(store, counted).rows == ((0,),)
        for number in range(1, 6):
            before = datetime.now(UTC)
            record(store, new_run(), request_events(1))
            found = run_sql(store, counted)
            assert found.rows == ((number,),)
            assert found.data_as_of is not None and before < found.data_as_of < datetime.now(UTC)
            if number == 3:
                with store._database.at_rest(), store.cursor() as cursor:
                    cursor.execute("CHECKPOINT")
        copies = [folder.name for folder in (tmp_path / "runs.duckdb.snapshot").glob("[0-9]*")]
        assert len(copies) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["runs.duckdb"]


def test_questions_while_others_write(tmp_path: Path) -> None:
    """Rows of one commit are all there or none; a later question never sees less."""
    with open_store(made(tmp_path / "runs.duckdb")) as store:
        over = threading.Event()

        def write(cursor: duckdb.DuckDBPyConnection) -> None:
            cursor.execute("INSERT INTO saved_queries SELECT uuid(), 'x', now() FROM range(2000)")

        def work() -> None:
            while not over.is_set():
                store.write(write)

        thread = threading.Thread(target=work)
        thread.start()
        seen = [run_sql(store, "SELECT count(*) FROM saved_queries").rows[0][0] for _ in range(3)]
        over.set()
        thread.join()
        assert seen == sorted(seen) and seen[-1] > seen[0]
        assert not [count for count in seen if count % 2000]


def test_copies_that_a_killed_process_left_are_removed(tmp_path: Path) -> None:
    left = tmp_path / "runs.duckdb.snapshot" / "3" / "runs.duckdb"
    left.parent.mkdir(parents=True)
    left.write_text("old")
    with open_store(made(tmp_path / "runs.duckdb")):
        assert not left.exists()


def test_no_room_for_a_copy_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(made(tmp_path / "runs.duckdb")) as store:
        with monkeypatch.context() as patched:
            patched.setattr("specviz.store.sql.snapshot._COPY", ["cp", "--no-such-option"])
            with pytest.raises(StoreError, match=r"could not be made .*: make 1 MB of room"):
                run_sql(store, "SELECT 1")
        assert run_sql(store, "SELECT 1").rows == ((1,),)


def test_another_process_cannot_open_the_file_after_a_copy(tmp_path: Path) -> None:
    """A copy made by this process would release DuckDB's lock when it closes the file."""
    with open_store(made(tmp_path / "runs.duckdb")) as store:
        run_sql(store, "SELECT 1")
        found = run_python(
            """
            import duckdb
            try:
                duckdb.connect(sys.argv[1])
            except duckdb.IOException as error:
                print("lock" in str(error))
            """,
            tmp_path / "runs.duckdb",
        )
        assert found.stdout == "True\n", found.stderr


def test_a_long_query_ends_with_a_sentence(store: Store) -> None:
    with pytest.raises(StoreError) as raised:
        run_sql(store, LONG, timeout_s=0.5)
    said = "The query was stopped, because it took longer than 0.5 s: ask for less."
    assert str(raised.value) == said


def test_others_go_on_while_a_long_query_runs(store: Store) -> None:
    begun, enough = threading.Event(), threading.Event()

    def look() -> None:
        begun.set()
        if enough.is_set():
            raise KeyError("seen")

    def ask() -> None:
        with pytest.raises(KeyError, match="seen"):
            run_sql(store, LONG, timeout_s=120, while_waiting=look)

    thread = threading.Thread(target=ask)
    thread.start()
    assert begun.wait(60)
    record(store, new_run(run_id="meanwhile"), request_events(1))
    assert run_sql(store, "SELECT status FROM runs WHERE run_id = 'meanwhile'").rows == (
        ("finished",),
    )
    assert thread.is_alive()
    enough.set()
    thread.join(60)
    assert not thread.is_alive()
    store.write(lambda cursor: cursor.execute("DELETE FROM runs WHERE run_id = 'meanwhile'"))


def test_who_waits_can_stop_the_query_and_ask_the_next_one_at_once(store: Store) -> None:
    calls: list[bool] = []

    def leave() -> None:
        calls.append(True)
        if len(calls) == 5:
            raise KeyError("another page was opened")

    with pytest.raises(KeyError, match="another page"):
        run_sql(store, LONG, timeout_s=300, while_waiting=leave)
    assert run_sql(store, "SELECT 1").rows == ((1,),)


def test_a_query_that_nothing_interrupts_is_killed(store: Store) -> None:
    with pytest.raises(StoreError, match=r"longer than 0\.1 s: ask for less"):
        run_sql(store, STUBBORN[0], timeout_s=0.1)
    assert run_sql(store, "SELECT 1").rows == ((1,),)


def test_a_process_that_dies_costs_its_query_only(store: Store) -> None:
    def kill() -> None:
        for process in store.queries._busy:
            os.kill(process.pid, signal.SIGKILL)

    with pytest.raises(StoreError, match="was ended from outside"):
        run_sql(store, LONG, timeout_s=30, while_waiting=kill)
    for process in [*store.queries._idle]:
        os.kill(process.pid, signal.SIGABRT)
    assert run_sql(store, "SELECT 1").rows == ((1,),)


def test_memory_that_cannot_be_had_is_a_sentence(store: Store) -> None:
    sql = "SELECT len(range(n)) FROM range(20_000_000, 20_000_001) t(n)"
    with pytest.raises(StoreError, match="takes more memory than it may") as raised:
        run_sql(store, sql, memory=64 * 1024**2, timeout_s=60)
    assert "\n" not in str(raised.value)
    assert run_sql(store, sql, memory=2 * 1024**3, timeout_s=60).rows == ((20_000_000,),)


@pytest.mark.slow
def test_one_query_does_not_leave_its_memory_to_the_next(store: Store) -> None:
    greedy = "SELECT length(repeat('x', 10000000 + n)) FROM range(2048) a(n)"
    for _ in range(2):
        with pytest.raises(StoreError, match="more memory than it may"):
            run_sql(store, greedy, memory=256 << 20, timeout_s=60)
    assert run_sql(store, "SELECT 1").rows == ((1,),)
    for process in store.queries._idle:
        status = Path(f"/proc/{process.pid}/status").read_text()
        (data,) = [line for line in status.splitlines() if line.startswith("VmData")]
        assert int(data.split()[1]) >> 10 < 600


@pytest.mark.slow
def test_the_app_has_no_limit_of_its_own(store: Store) -> None:
    """A limit on this process has ended it: an allocation failed in code that may not throw."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_DATA)
    seen: set[tuple[int, int]] = set()

    def look() -> None:
        seen.add(resource.getrlimit(resource.RLIMIT_DATA))

    with pytest.raises(StoreError):
        run_sql(store, LONG, timeout_s=0.5, memory=64 << 20, while_waiting=look)
    assert seen == {before}


def test_closing_the_store_ends_what_waits(tmp_path: Path) -> None:
    store = open_store(made(tmp_path / "runs.duckdb"))
    said: list[str] = []

    def ask() -> None:
        try:
            run_sql(store, STUBBORN[0], timeout_s=500)
        except StoreError as error:
            said.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    while not store.queries._busy:
        time.sleep(0.01)
    store.close()
    thread.join(60)
    assert not thread.is_alive()
    assert said
    with pytest.raises(StoreError, match="closed"):
        run_sql(store, "SELECT 1")


def test_processes_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    found = run_python(
        """
        import os
        from pathlib import Path
        from specviz.store import open_store
        from specviz.store.sql.sandbox import run_sql
        store = open_store(Path(sys.argv[1]))
        run_sql(store, "SELECT 1")
        print(*[process.pid for process in store.queries._idle], flush=True)
        os.kill(os.getpid(), 9)
        """,
        tmp_path / "runs.duckdb",
    )
    pids = found.stdout.split()
    assert pids, found.stderr
    until = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def test_more_queries_than_processes_wait_for_their_turn(store: Store) -> None:
    answers: list[object] = []

    def ask() -> None:
        answers.append(run_sql(store, "SELECT 7", timeout_s=30).rows)

    threads = [threading.Thread(target=ask) for _ in range(3 * processes.AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [((7,),)] * len(threads)


def test_a_result_too_large_to_show(store: Store) -> None:
    with pytest.raises(StoreError, match="larger than 64 MB: ask for fewer rows"):
        run_sql(store, "SELECT repeat('x', 1000000), [repeat('y', 1000000)] FROM range(100)")
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
    reported = str(raised.value)
    assert reported.startswith("The query failed: ") and says in reported and reported.endswith(".")
    assert reported.isprintable()


def test_errors_name_no_path_of_this_machine() -> None:
    hidden = ["/home/eve b/data/runs.duckdb", "/home/eve b/data"]
    for text in (
        'Could not write "/home/eve b/data/runs.duckdb.tmp/block": no space',
        "Cannot list /home/eve b/data: denied",
        "Cannot open file /home/other/eve.db: denied",
    ):
        reported = child.message(duckdb.IOException(text), "SELECT 1", hidden)
        assert "eve" not in reported and "data" not in reported


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("FROM rusn", 'no table "rusn": did you mean runs?'),
        ("SELECT lenght('a')", '"lenght" may not be called in a query: did you mean length?'),
        ("PIVOT runs ON method", "PIVOT … ON column IN"),
        ("DELETE FROM runs", "DELETE is refused, because queries only read"),
        ("FROM read_csv('x')", 'The table function "read_csv" is refused'),
        ("FROM histogram(duckdb_settings, value)", "takes the plain name of a table"),
        ("WITH a AS (FROM runs), b AS (FROM a, a x) FROM b" + ", b" * 200, "more than 500 tables"),
        ("SELECT ?", "write the value in its place"),
        ("SELEC 1", 'not SQL that DuckDB can parse: syntax error at or near "SELEC"'),
    ],
)
def test_a_refusal_says_why(store: Store, sql: str, says: str) -> None:
    with pytest.raises(UsageError) as raised:
        run_sql(store, sql)
    assert says in str(raised.value)


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

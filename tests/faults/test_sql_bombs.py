"""Hostile SQL, on a file and on a shared store whose PostgreSQL password is in its address.

No effect, no secret, and others answered soon after each statement: within 5 s where the benchmark
has the machine to itself, within 30 s beside other tests. The default run has a slice on a file;
the slow whole writes its figures to the file that SPECVIZ_FIGURES names
(`python -m benchmarks.hostile_sql`).
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from benchmarks.started.app import started_app
from specviz.errors import SpecvizError
from specviz.remote.token import secret_header
from specviz.store import Store, open_store
from specviz.store.owner import read_owner
from specviz.store.secret import read_secret
from specviz.store.sql.sandbox import run_sql
from tests.support.faults.hostile_sql import MEMORY_BOMBS, READS, TAKES
from tests.support.faults.kept_figures import keep
from tests.support.sql.hostile.bombs import STUBBORN
from tests.support.store.postgres import PASSWORD, running_postgres
from tests.support.store.samples import new_run, num_runs, record, request_events

BACK_S = 5.0 if "SPECVIZ_FIGURES" in os.environ else 30.0
TIMEOUT_S = 0.5
MEMORY = 256 * 1024**2
TIMES = 10
OF_THE_APP = "kept-in-the-environment-of-the-app"
SECRETS = (PASSWORD, "SCRAM-SHA-256", "root:x:", "what-the-file-holds", OF_THE_APP)


@dataclass
class Seen:
    """What the statements did; times in seconds."""

    statements: int = 0
    wrong: list[str] = field(default_factory=list)
    back_s: list[float] = field(default_factory=list)


@dataclass
class Target:
    """A store with three runs, a folder with a secret, and how to look at everything there is."""

    store: Store
    folder: Path

    def state(self) -> dict[str, object]:
        def ask(sql: str) -> list[tuple[object, ...]]:
            return self.store.read(lambda cursor: cursor.execute(sql).fetchall())

        tables = "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
        counts = (
            f"SELECT '{name}', count(*), sum(hash(t::VARCHAR)) FROM {name} t"
            for (name,) in sorted(ask(tables))
        )
        return {
            "rows": ask(" UNION ALL ".join(counts)),
            "databases": ask("SELECT database_name FROM duckdb_databases() ORDER BY ALL"),
            "settings": ask("SELECT name, value FROM duckdb_settings() ORDER BY ALL"),
            "files": {file.name: file.read_bytes() for file in sorted(self.folder.iterdir())},
        }


@contextmanager
def target(kind: str, folder: Path) -> Iterator[Target]:
    secrets = folder / "secrets"
    secrets.mkdir()
    for suffix in ("csv", "json", "txt", "parquet", "duckdb"):
        (secrets / f"secret.{suffix}").write_text("a,b\nwhat-the-file-holds,1\n")
    with ExitStack() as stack:
        if kind == "lake":
            server = stack.enter_context(running_postgres())
            server.create("hostile")
            location = server.lake("hostile", folder / "files")
        else:
            location = folder / "store" / "runs.duckdb"
        os.environ["SPECVIZ_TEST_SECRET"] = OF_THE_APP
        stack.callback(os.environ.pop, "SPECVIZ_TEST_SECRET")
        store = stack.enter_context(open_store(location))
        for index in range(3):
            record(store, new_run(run_id=f"run{index}"), request_events(4))
        yield Target(store, secrets)


def try_all(target: Target, statements: Sequence[str], seen: Seen, timeout_s: float) -> None:
    before = target.state()
    for statement in statements:
        sql = statement.replace("{folder}", str(target.folder))
        began = time.monotonic()
        try:
            said = repr(run_sql(target.store, sql, timeout_s=timeout_s, memory=MEMORY))
        except SpecvizError as error:
            said = str(error)
        ended = time.monotonic()
        answer = run_sql(target.store, "SELECT 42", timeout_s=30).rows
        seen.back_s.append(time.monotonic() - ended)
        seen.statements += 1
        leaks = [secret for secret in SECRETS if secret in said and secret not in sql]
        if leaks or answer != ((42,),) or seen.back_s[-1] > BACK_S:
            seen.wrong.append(f"{sql[:300]}: {leaks} {answer} {seen.back_s[-1]:.1f} s {said[:300]}")
        if ended - began > timeout_s + 60:  # opening and starting included, on a busy machine
            seen.wrong.append(f"{sql[:300]}: ended after {ended - began:.1f} s")
    after = target.state()
    seen.wrong += [f"changed: {name}" for name in before if before[name] != after[name]]


def test_a_slice(tmp_path: Path) -> None:
    reads = [sql for family in READS.values() for sql in family]
    takes = [sql for family in TAKES.values() for sql in family]
    assert len({*reads, *takes}) >= 600
    seen = Seen()
    with target("file", tmp_path) as one:
        try_all(one, reads[::45], seen, 1.0)
        try_all(one, takes[::36], seen, 0.1)
        assert one.store.read(num_runs) == 3
    assert seen.wrong == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ["file", "lake"])
def test_all_of_them(tmp_path: Path, kind: str) -> None:
    seen = Seen()
    with target(kind, tmp_path) as one:
        for family in (*READS.values(), *TAKES.values()):
            try_all(one, family, seen, TIMEOUT_S)
    keep_seen(kind, seen)
    assert seen.wrong == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_memory_bombs_leave_the_app_as_it_is(tmp_path: Path) -> None:
    """While runs are recorded: none is lost."""
    seen, recorded, over = Seen(), [], threading.Event()
    with target("file", tmp_path) as one:

        def work() -> None:
            while not over.is_set():
                run = new_run()
                record(one.store, run, request_events(2))
                recorded.append(run.run_id)
                time.sleep(0.05)

        writer = threading.Thread(target=work)
        writer.start()
        for sql in MEMORY_BOMBS * TIMES:
            try:
                run_sql(one.store, sql, limit_rows=3, timeout_s=5.0, memory=MEMORY)
            except SpecvizError as error:
                assert "more memory than it may" in str(error) or "took longer" in str(error), error
            began = time.monotonic()
            assert run_sql(one.store, "SELECT 42", timeout_s=30).rows == ((42,),)
            seen.back_s.append(time.monotonic() - began)
            seen.statements += 1
        over.set()
        writer.join()
        counted = run_sql(one.store, "SELECT count(*) FROM runs").rows
    assert counted == ((3 + len(recorded),),)
    keep_seen("memory", seen, runs_recorded=len(recorded))
    assert max(seen.back_s) < BACK_S


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_app_answers_others_and_ends(tmp_path: Path) -> None:
    path = tmp_path / "runs.duckdb"
    with open_store(path) as store:
        record(store, new_run(), request_events(2))
    with (
        started_app(path, tmp_path / "app.log") as url,
        httpx2.Client(base_url=url, headers=secret_header(read_secret(path))) as http,
    ):

        def ask(sql: str) -> httpx2.Response:
            return http.post("/api/query", json={"sql": sql}, timeout=60)

        assert ask("SELECT count(*) FROM runs").json()["rows"] == [[1]]
        pid = read_owner(path, None).pid
        assert pid is not None
        took = []
        for bomb in (STUBBORN[0], *MEMORY_BOMBS[:3]):
            thread = threading.Thread(target=ask, args=(bomb,))
            thread.start()
            while thread.is_alive():
                began = time.monotonic()
                assert ask("SELECT 42").json()["rows"] == [[42]]
                took.append(time.monotonic() - began)
                time.sleep(0.2)
        assert max(took) < BACK_S
        assert read_owner(path, None).pid == pid
        threading.Thread(target=ask, args=(STUBBORN[0],), daemon=True).start()
        time.sleep(1)
        began = time.monotonic()
        os.kill(pid, signal.SIGTERM)
        while Path(f"/proc/{pid}/stat").exists() and time.monotonic() - began < 30:
            if ") Z " in Path(f"/proc/{pid}/stat").read_text():
                break
            time.sleep(0.05)
        ended_s = time.monotonic() - began
    assert ended_s < 20
    keep_seen("app", Seen(len(took), [], took), ended_s=ended_s)


def keep_seen(name: str, seen: Seen, **more: float) -> None:
    keep(name, statements=seen.statements, wrong=len(seen.wrong), back_s=seen.back_s, **more)

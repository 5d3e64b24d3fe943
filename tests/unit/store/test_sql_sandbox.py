"""Users' SQL: what reads is answered, what does more is refused, what is too much is stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_bombs import BOMBS
from hostile_statements import REFUSED
from store_samples import new_run, record, request_events

from specviz.errors import StoreError, UsageError
from specviz.store import Store, open_store
from specviz.store.sql import sandbox
from specviz.store.sql.sandbox import run_sql

MIB = 1024**2
SECRET = "4711"
TIMEOUT_S = 0.1
STOPPED_AT_LAST_S = 60
MEMORY = 128 * MIB
STOPPED = ("took longer than", "takes more memory", "is larger than", "larger than 2^32", "resize")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a query must not read, and where it must not write."""
    found = tmp_path_factory.mktemp("secrets")
    for suffix in ("csv", "json", "txt", "parquet", "duckdb"):
        (found / f"secret.{suffix}").write_text(f"a,b\n{SECRET},{SECRET}\n")
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("sandbox") / "runs.duckdb") as opened:
        for index in range(3):
            record(opened, new_run(run_id=f"run{index}"), request_events(4))
        yield opened


def asked(store: Store, sql: str) -> list[tuple[object, ...]]:
    return store.read(lambda cursor: cursor.execute(sql).fetchall())


def state(store: Store, folder: Path) -> dict[str, object]:
    """Everything that a statement could have changed."""
    tables = asked(store, "SELECT table_name FROM duckdb_tables() ORDER BY 1")
    counts = (
        f"SELECT '{name}', count(*), sum(hash(t::VARCHAR)) FROM {name} t" for (name,) in tables
    )
    return {
        "rows": asked(store, " UNION ALL ".join(counts)),
        "comments": asked(store, "SELECT column_name, comment FROM duckdb_columns() ORDER BY ALL"),
        "defined": asked(
            store,
            "SELECT function_name FROM duckdb_functions() WHERE NOT internal UNION ALL "
            "SELECT view_name FROM duckdb_views() WHERE NOT internal UNION ALL "
            "SELECT database_name FROM duckdb_databases() ORDER BY ALL",
        ),
        "settings": asked(store, "SELECT name, value FROM duckdb_settings() ORDER BY ALL"),
        "files": {file.name: file.read_bytes() for file in sorted(folder.iterdir())},
        "beside": sorted(f.name for f in store.path.parent.rglob("*") if f.is_file()),
    }


def refused(store: Store, folder: Path, statement: str) -> str | None:
    """Why a statement is not as it should be."""
    sql = statement.replace("{folder}", str(folder))
    began = time.perf_counter()
    try:
        result = run_sql(store, sql, timeout_s=5, memory=MEMORY)
    except UsageError as error:
        said = str(error)
    except StoreError as error:
        return f"ran: {error}"
    else:
        return f"answered {result}"
    if time.perf_counter() - began > 2:
        return "took too long"
    if "\n" in said or not said.isprintable() or not said.endswith((".", "?")):
        return f"is told badly: {said!r}"
    leaks = SECRET in said or str(store.path.parent) in said
    return f"leaks: {said}" if leaks or (str(folder) in said and str(folder) not in sql) else None


@pytest.mark.parametrize("family", REFUSED)
def test_a_statement_that_does_more_than_read_is_refused(
    store: Store, folder: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = state(store, folder)
    told = {statement[:200]: refused(store, folder, statement) for statement in REFUSED[family]}
    assert {sql: wrong for sql, wrong in told.items() if wrong} == {}
    assert state(store, folder) == before


def test_there_are_enough_hostile_statements() -> None:
    families = [*REFUSED.values(), *BOMBS.values()]
    assert len({statement for family in families for statement in family}) >= 480


@pytest.mark.parametrize("family", BOMBS)
def test_a_bomb_ends_within_its_limits(store: Store, folder: Path, family: str) -> None:
    before = state(store, folder)
    wrong = {}
    for sql in BOMBS[family]:
        began = time.perf_counter()
        try:
            said = str(run_sql(store, sql, limit_rows=3, timeout_s=TIMEOUT_S, memory=MEMORY))[:300]
        except StoreError as error:
            said = str(error)
        took_s = time.perf_counter() - began
        stopped = any(reason in said for reason in STOPPED)
        if not stopped or took_s > TIMEOUT_S + sandbox.GRACE_S + 0.5:
            wrong[sql] = (round(took_s, 2), said)
        wait_for_the_left_behind()
    assert wrong == {}
    assert state(store, folder) == before
    record(store, new_run(), request_events(2))


def wait_for_the_left_behind() -> None:
    """They end once they have touched the memory they may have, which takes its time on cores
    that others use."""
    for thread in sandbox._left_behind:
        thread.join(STOPPED_AT_LAST_S)
        assert not thread.is_alive()

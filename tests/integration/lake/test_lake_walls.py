"""What users' SQL on a lake must not reach: its catalog, its files, other servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from specviz.errors import UsageError
from specviz.store import Store, open_store
from specviz.store.file import lake
from specviz.store.location import Lake
from specviz.store.sql.sandbox import run_sql
from tests.support.store.postgres import PASSWORD, Postgres


@pytest.fixture(scope="module")
def shared(postgres: Postgres, files: Path, empty: str) -> Iterator[Store]:
    postgres.create("guarded", empty)
    with open_store(postgres.lake("guarded", files)) as opened:
        yield opened


@pytest.mark.parametrize(
    "sql",
    [
        f"FROM postgres_query('{lake.CATALOG}', 'SELECT 1')",
        f"FROM postgres_execute('{lake.CATALOG}', 'CREATE TABLE loot (a INT); COMMIT')",
        f"CALL postgres_execute('{lake.CATALOG}', 'CREATE TABLE loot (a INT); COMMIT')",
        "FROM postgres_scan('dbname=x', 'public', 'y')",
        "FROM postgres_attach('dbname=x')",
        f"FROM {lake.CATALOG}.public.ducklake_metadata",
        f"FROM {lake.CATALOG}.ducklake_metadata",
        "FROM lake.options()",
        "FROM ducklake_snapshots('lake')",
        "FROM ducklake_cleanup_old_files('lake', cleanup_all => true)",
        "CALL ducklake_expire_snapshots('lake', versions => [1])",
        "FROM ducklake_add_data_files('lake', 'runs', '/etc/passwd')",
        "CALL lake.set_option('parquet_compression', 'zstd')",
        "FROM runs AT (VERSION => 1)",
        "FROM duckdb_databases()",
        "FROM memory.main.runs",
        "CREATE TABLE memory.main.loot (a INT)",
        "INSERT INTO saved_queries VALUES ('a', 'b', now())",
        "DETACH lake",
        "USE memory",
        "CHECKPOINT",
        "ATTACH 'ducklake:postgres:dbname=x' AS other",
        "COPY (SELECT 1) TO '{files}/loot.csv'",
        "FROM '{files}/main/runs/*.parquet'",
        "SELECT bin FROM histogram_values(duckdb_databases, path, technique := 'sample')",
        "FROM histogram('duckdb_databases', path)",
        f"FROM histogram_values({lake.CATALOG}.pg_catalog.pg_shadow, passwd)",
        f"FROM histogram('{lake.CATALOG}.pg_catalog.pg_shadow', passwd)",
    ],
)
def test_users_sql_does_not_reach_behind_the_lake(
    shared: Store, postgres: Postgres, files: Path, sql: str
) -> None:
    with pytest.raises(UsageError):
        run_sql(shared, sql.replace("{files}", str(files)))
    tables = "SELECT count(*) FROM pg_tables WHERE tablename = 'loot'"
    assert postgres.sql("guarded", tables) == "0"


def test_users_sql_reads_the_lake(shared: Store) -> None:
    found = run_sql(
        shared, "SELECT count(*), current_database() FROM steps JOIN requests USING (request_id)"
    )
    assert found.rows == ((0, "lake"),)


READER = "CREATE ROLE reader LOGIN PASSWORD 'only reads'; " + (
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "reader",
    [pytest.param("", marks=pytest.mark.slow), "user=reader password='only reads'"],
)
def test_without_the_guard_the_process_reads_and_sees_no_password(
    postgres: Postgres,
    files: Path,
    empty: str,
    reader: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database = "with_reader" if reader else "without_reader"
    postgres.create(database, empty)
    if reader:
        postgres.sql(database, READER)
    monkeypatch.setenv("SPECVIZ_STORE_READER", reader)
    monkeypatch.delenv("PGPASSWORD", raising=False)
    with open_store(postgres.lake(database, files)) as store:
        assert run_sql(store, "SELECT count(*) FROM runs").rows == ((0,),)
        assert isinstance(store.location, Lake)
        reading, password = store.location.for_reading()
    monkeypatch.setenv("PGPASSWORD", password)
    assert password == ("only reads" if reader else PASSWORD)
    with closing(lake.connect_lake(reading, spill=tmp_path / "spill")) as connection:
        for sql in (
            f"CALL postgres_execute('{lake.CATALOG}', 'CREATE TABLE loot (a INT)')",
            "INSERT INTO lake.runs (run_id) VALUES ('x')",
            "CALL ducklake_expire_snapshots('lake', older_than => now())",
        ):
            with pytest.raises(duckdb.Error, match="read-only"):
                connection.execute(sql)
        seen = ""
        for table in ("duckdb_databases()", "duckdb_secrets()", "duckdb_settings()"):
            seen += str(connection.execute(f"FROM {table}").fetchall())
        assert PASSWORD not in seen and "only reads" not in seen
        if reader:
            with pytest.raises(duckdb.Error, match="permission denied"):
                shadow = f"FROM postgres_query('{lake.CATALOG}', 'SELECT passwd FROM pg_shadow')"
                connection.execute(shadow)


@pytest.mark.slow
def test_without_the_guard_most_doors_are_closed_too(shared: Store, files: Path) -> None:
    for sql in (
        "ATTACH '/tmp/other.duckdb'",
        "ATTACH 'dbname=x' AS x (TYPE postgres)",
        "FROM read_text('/etc/passwd')",
        "COPY (SELECT 1) TO '/tmp/loot.csv'",
        "SET memory_limit = '9GB'",
        "LOAD httpfs",
    ):
        with shared.cursor() as cursor, pytest.raises(duckdb.Error):
            cursor.execute(sql)

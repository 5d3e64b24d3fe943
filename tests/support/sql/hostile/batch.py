"""Hostile statements against a store of their own: what is wrong with how each ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from specviz.errors import StoreError, UsageError
from specviz.store import Store, open_store
from specviz.store.sql.sandbox import run_sql
from tests.support.sql.hostile.bombs import BOMBS
from tests.support.sql.hostile.statements import REFUSED
from tests.support.store.made import made
from tests.support.store.samples import new_run, record, request_events

MIB = 1024**2
SECRET = "4711"
TIMEOUT_S = 0.1
MEMORY = 128 * MIB
STOPPED = ("took longer than", "takes more memory", "is larger than", "larger than 2^32", "resize")

STATEMENTS: Mapping[str, Mapping[str, Sequence[str]]] = {"refused": REFUSED, "bombs": BOMBS}


def outcomes(kind: str, families: Sequence[str], folder: Path) -> dict[str, dict[str, str]]:
    """What is wrong, by family and statement; nothing where every statement ended as it should and
    left the store as it was."""
    found: dict[str, dict[str, str]] = {}
    secrets = folder / "secrets"
    secrets.mkdir()
    for suffix in ("csv", "json", "txt", "parquet", "duckdb"):
        (secrets / f"secret.{suffix}").write_text(f"a,b\n{SECRET},{SECRET}\n")
    with open_store(made(folder / "store" / "runs.duckdb")) as store:
        for index in range(3):
            record(store, new_run(run_id=f"run{index}"), request_events(4))
        run_sql(store, "SELECT 1")  # from now on there is a copy next to the file
        for family in families:
            before = state(store, secrets)
            faults = {sql: CHECKS[kind](store, secrets, sql) for sql in STATEMENTS[kind][family]}
            found[family] = {sql: fault for sql, fault in faults.items() if fault}
            after = state(store, secrets)
            if changed := [name for name in before if before[name] != after[name]]:
                found[family]["one of them"] = f"changed {', '.join(changed)}"
            record(store, new_run(), request_events(2))
    return found


def refusal_fault(store: Store, folder: Path, statement: str) -> str | None:
    """Why a refusal is not as it should be."""
    sql = statement.replace("{folder}", str(folder))
    try:
        result = run_sql(store, sql, timeout_s=60, memory=MEMORY)
    except UsageError as error:
        said = str(error)
    except StoreError as error:
        return f"ran: {error}"
    else:
        return f"answered {result}"
    if "\n" in said or not said.isprintable() or not said.endswith((".", "?")):
        return f"is badly worded: {said!r}"
    leaks = SECRET in said or str(store.path.parent) in said
    return f"leaks: {said}" if leaks or (str(folder) in said and str(folder) not in sql) else None


def bomb_fault(store: Store, folder: Path, sql: str) -> str | None:
    """Why a bomb did not end within its limits, or others were not answered after it."""
    try:
        said = str(run_sql(store, sql, limit_rows=3, timeout_s=TIMEOUT_S, memory=MEMORY))[:300]
    except StoreError as error:
        said = str(error)
    answer = run_sql(store, "SELECT 42").rows
    if not any(reason in said for reason in STOPPED):
        return said
    return None if answer == ((42,),) else f"others were answered {answer}"


CHECKS: Mapping[str, Callable[[Store, Path, str], str | None]] = {
    "refused": refusal_fault,
    "bombs": bomb_fault,
}


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
        "beside": sorted(f.name for f in store.path.parent.iterdir()),
    }


def asked(store: Store, sql: str) -> list[tuple[object, ...]]:
    return store.read(lambda cursor: cursor.execute(sql).fetchall())

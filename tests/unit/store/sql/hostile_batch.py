"""Hostile statements against a store of their own, in a process that they may end.

    python hostile_batch.py FOLDER refused|bombs|aborts FAMILY...

The memory ceiling of a user's query is a limit on the whole process: an allocation that fails in
code that may not throw aborts it. So these statements never run in pytest's process. Each is
reported as a line of JSON when it begins, so that `outcomes` can name the one that was fatal.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

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
BATCH_TIMEOUT_S = 270
MEMORY = 128 * MIB
STOPPED = ("took longer than", "takes more memory", "is larger than", "larger than 2^32", "resize")

ABORTS = {
    "first": ["SELECT 1", "SELECT 2 -- ends the process", "SELECT 3"],
    "next": ["SELECT 4"],
}
STATEMENTS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "refused": REFUSED,
    "bombs": BOMBS,
    "aborts": ABORTS,
}


# in pytest's process


def outcomes(kind: str, families: Sequence[str], folder: Path) -> dict[str, dict[str, str]]:
    """What is wrong, by family and statement; nothing where every statement ended as it should and
    left the store as it was. Where the process dies, the families after get another one."""
    found: dict[str, dict[str, str]] = {}
    while left := [family for family in families if family not in found]:
        found |= _batch(kind, left, folder / f"batch{len(found)}")
    return found


def _batch(kind: str, families: Sequence[str], folder: Path) -> dict[str, dict[str, str]]:
    """The families up to the one that the process died of, if it did."""
    folder.mkdir()
    said = folder / "said.jsonl"
    with said.open("w") as lines:
        try:
            ended = subprocess.run(
                [sys.executable, "-X", "faulthandler", __file__, str(folder), kind, *families],
                stdout=lines,
                stderr=subprocess.PIPE,
                text=True,
                timeout=BATCH_TIMEOUT_S,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
            death = f"exit status {ended.returncode}: {ended.stderr}" if ended.returncode else ""
        except subprocess.TimeoutExpired:
            death = f"the process was killed after {BATCH_TIMEOUT_S} s"
    found: dict[str, dict[str, str]] = {families[0]: {}}
    began: dict[str, list[str]] = {family: [] for family in families}
    for family, sql, fault in map(json.loads, said.read_text().splitlines()):
        wrong = found.setdefault(family, {})
        if fault:
            wrong[sql] = fault
        else:
            began[family].append(sql)
    if death:
        last = [*found][-1]
        found[last][(began[last] or ["before the first"])[-1]] = death
        return found
    for family in families:
        missing = [sql for sql in STATEMENTS[kind][family] if sql not in began[family]]
        found.setdefault(family, {}).update(dict.fromkeys(missing, "did not run"))
    return found


# in the process of the batch


def main(folder: Path, kind: str, families: Sequence[str]) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    secrets = folder / "secrets"
    secrets.mkdir()
    for suffix in ("csv", "json", "txt", "parquet", "duckdb"):
        (secrets / f"secret.{suffix}").write_text(f"a,b\n{SECRET},{SECRET}\n")
    os.chdir(secrets)
    with open_store(folder / "store" / "runs.duckdb") as store:
        for index in range(3):
            record(store, new_run(run_id=f"run{index}"), request_events(4))
        for family in families:
            before = state(store, secrets)
            for sql in STATEMENTS[kind][family]:
                say(family, sql)
                if fault := CHECKS[kind](store, secrets, sql):
                    say(family, sql, fault)
            after = state(store, secrets)
            if changed := [name for name in before if before[name] != after[name]]:
                say(family, "one of them", f"changed {', '.join(changed)}")
            record(store, new_run(), request_events(2))


def say(family: str, sql: str, fault: str = "") -> None:
    """A statement begins, or why it did not end as it should."""
    print(json.dumps([family, sql, fault]), flush=True)


def refusal_fault(store: Store, folder: Path, statement: str) -> str | None:
    """Why a refusal is not as it should be."""
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
        return f"is badly worded: {said!r}"
    leaks = SECRET in said or str(store.path.parent) in said
    return f"leaks: {said}" if leaks or (str(folder) in said and str(folder) not in sql) else None


def bomb_fault(store: Store, folder: Path, sql: str) -> str | None:
    """Why a bomb did not end within its limits."""
    began = time.perf_counter()
    try:
        said = str(run_sql(store, sql, limit_rows=3, timeout_s=TIMEOUT_S, memory=MEMORY))[:300]
    except StoreError as error:
        said = str(error)
    took_s = time.perf_counter() - began
    stopped = any(reason in said for reason in STOPPED)
    wait_for_the_left_behind()
    if not stopped or took_s > TIMEOUT_S + sandbox.GRACE_S + 0.5:
        return f"{took_s:.2f} s: {said}"
    return None


def wait_for_the_left_behind() -> None:
    """They end once they have touched the memory they may have, which takes its time on cores
    that others use."""
    for thread in sandbox._left_behind:
        thread.join(STOPPED_AT_LAST_S)
        assert not thread.is_alive()


def abort(store: Store, folder: Path, sql: str) -> None:
    if "ends the process" in sql:
        os.abort()


CHECKS: Mapping[str, Callable[[Store, Path, str], str | None]] = {
    "refused": refusal_fault,
    "bombs": bomb_fault,
    "aborts": abort,
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
        "beside": sorted(f.name for f in store.path.parent.rglob("*") if f.is_file()),
    }


def asked(store: Store, sql: str) -> list[tuple[object, ...]]:
    return store.read(lambda cursor: cursor.execute(sql).fetchall())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])

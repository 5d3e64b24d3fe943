"""What users' SQL pays for a process of its own: the copy of the database, and the way there.

The history is synthetic (`made_history`); its size is next to every figure. A question is timed as
the Query page asks it: the same count, right after another commit or without one.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

from duckdb import DuckDBPyConnection

from benchmarks.history_scale.made_history import batches, put
from benchmarks.results_file import add_save_option, save
from specviz.machine import hardware_summary
from specviz.store import Store, open_store
from specviz.store.sql.sandbox import run_sql
from specviz.store.sql.saved_queries import put_query
from specviz.store.sql.snapshot import SETTLED_NS

DECISIONS = 10_000_000
TURNS = 10
SQL = "SELECT count(*) FROM requests"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=DECISIONS)
    parser.add_argument("--db", type=Path, help="a database that is there; a copy is better")
    add_save_option(parser, "sql_snapshot")
    asked = parser.parse_args()
    print(hardware_summary())
    with tempfile.TemporaryDirectory() as folder:
        path = asked.db or Path(folder) / "runs.duckdb"
        if not path.exists():
            with open_store(path) as store:
                for batch in batches(asked.decisions):
                    put(store, batch)
        with open_store(path) as store:
            figures = measured(store)
            size = path.stat().st_size
    print(f"{size / 1e6:.0f} MB")
    for name, took in figures.items():
        print(f"{name:25} median {median(took):7.1f} ms, at most {max(took):7.1f} ms")
    if asked.save:
        save(asked.save, {"decisions": asked.decisions, "bytes": size, "ms": figures})


def measured(store: Store) -> dict[str, list[float]]:
    """ms of each kind of question; the first one starts the process and makes the first copy."""
    return {
        "in this process": times(store, here),
        "first": [ms_of(store, question)],
        "nothing committed": times(store, question),
        "a small commit": times(store, question, before=commit),
        "the file changed": times(store, question, before=checkpoint),
    }


def times(
    store: Store, ask: Callable[[Store], object], before: Callable[[Store], object] | None = None
) -> list[float]:
    found = []
    for _ in range(TURNS):
        if before is not None:
            before(store)
        found.append(ms_of(store, ask))
    return found


def here(store: Store) -> object:
    """What pages pay that read in their own process."""

    def read(cursor: DuckDBPyConnection) -> object:
        return cursor.execute(SQL).fetchall()

    return store.read(read)


def question(store: Store) -> object:
    return run_sql(store, SQL)


def commit(store: Store) -> None:
    store.write(put_query, "measured", SQL, datetime.now(UTC))


def checkpoint(store: Store) -> None:
    """Move the log into the file, as the writer does when it is large."""
    commit(store)
    sleep(2 * SETTLED_NS / 1e9)
    with store._database.at_rest(), store.cursor() as cursor:
        cursor.execute("CHECKPOINT")


def ms_of(store: Store, ask: Callable[[Store], object]) -> float:
    began_s = perf_counter()
    ask(store)
    return (perf_counter() - began_s) * 1000


if __name__ == "__main__":
    main()

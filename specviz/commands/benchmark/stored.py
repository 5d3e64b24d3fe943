"""A stored benchmark for commands that only read it, also while an app owns the database."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from specviz.commands.options import existing
from specviz.errors import UsageError
from specviz.remote.exchange import fetch
from specviz.remote.query import ask
from specviz.store import Location, Store, StoreBusy, open_store
from specviz.store.benchmarks.reads import read_benchmarks
from specviz.store.benchmarks.rows import BenchmarkRow
from specviz.store.exchange import Format
from specviz.store.exchange.importing import import_file
from specviz.store.quoting import literal

MATCHES = 2
"""As many as a caller needs to see that the start of an id is not enough."""


@contextmanager
def store_with(benchmark: str, db: Location | None) -> Iterator[Store]:
    """A store that has the benchmarks whose id begins so, if there are any.

    Where a running app owns the database, it is a temporary one with their export. Raises
    UsageError where there is no database or the app refuses, StoreError.
    """
    with tempfile.TemporaryDirectory(prefix="specviz-read-") as folder:
        try:
            store = open_store(existing(db))
        except StoreBusy as busy:
            if busy.url is None:
                raise
            print(f"The app at {busy.url} owns the database and exports it.", file=sys.stderr)
            store = _copied(busy.url, busy.secret, benchmark, Path(folder))
        with store:
            yield store


def benchmark_with(store: Store, benchmark: str) -> BenchmarkRow:
    """The benchmark whose id begins so. Raises UsageError for none, and for several."""
    rows = [
        row for row in store.read(read_benchmarks) if row.benchmark_id.startswith(benchmark.lower())
    ]
    if not benchmark or len(rows) != 1:
        number = "No" if not rows else "More than one"
        raise UsageError(
            f"{number} stored benchmark has an id that begins with {benchmark!r}: "
            "`specviz query 'SELECT benchmark_id, name FROM benchmarks'` lists them."
        )
    return rows[0]


def _copied(url: str, secret: str | None, benchmark: str, folder: Path) -> Store:
    start = literal(benchmark.lower())
    sql = f"SELECT benchmark_id FROM benchmarks WHERE starts_with(benchmark_id, {start})"
    ids = [str(row[0]) for row in ask(url, sql, MATCHES, secret=secret)["rows"]]
    if ids:
        fetch(url, ids, Format.PARQUET, folder / "benchmark.zip", secret=secret)
    store = open_store(folder / "runs.duckdb")
    if ids:
        import_file(store, folder / "benchmark.zip")
    return store

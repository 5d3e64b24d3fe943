"""A store, exported and imported into an empty one: every row comes back."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa

from specviz.store import Store, open_store
from specviz.store.exchange import Format, export, import_file
from specviz.store.exchange.exported_tables import EXPORTED_TABLES, IMPORTED_AT, ExportedTable
from specviz.store.exchange.selection import rows, select_all
from tests.support.store.samples import frame_of

Row = dict[str, object]


def assert_round_trip(
    store: Store, formats: tuple[Format, ...] = (Format.PARQUET, Format.JSONL)
) -> None:
    """All of an open store that has ended, in each format, row by row and column by column."""
    with tempfile.TemporaryDirectory() as folder:
        for kind in formats:
            file = Path(folder) / f"all.{kind}"
            export(store, None, kind, file)
            with open_store(Path(folder) / f"{kind}.duckdb") as other:
                imported = import_file(other, file)
                assert not imported.already
                assert_equal_rows(store, other)
                again = import_file(other, file)
                assert not again.stored
                assert again.already == imported.stored


def assert_equal_rows(store: Store, other: Store) -> None:
    """Every column of every table but the time of import; what still runs is left out."""
    for table in EXPORTED_TABLES:
        assert table_of(other, table) == table_of(store, table), table.name


def table_of(store: Store, table: ExportedTable) -> list[Row]:
    def read(cursor: object) -> pa.Table:
        selection = select_all(cursor)  # type: ignore[arg-type]
        order = f"ORDER BY {', '.join(table.key)}"
        return rows(cursor, table, selection, order).read_all()  # type: ignore[arg-type]

    found = store.read(read).to_pylist()
    return [
        {name: repr(value) for name, value in row.items() if name != IMPORTED_AT} for row in found
    ]


def assert_whole(store: Store) -> None:
    """Nothing runs, every row has its owner, and no key is there twice."""
    for table, key, owner in OWNED:
        lone = f"SELECT count(*) AS n FROM {table} WHERE {key} NOT IN (SELECT {key} FROM {owner})"
        assert store.read(frame_of, lone)["n"][0] == 0, table
    for table, keys in KEYS:
        twice = f"SELECT 1 FROM {table} GROUP BY {keys} HAVING count(*) > 1"
        assert store.read(frame_of, twice).empty, table
    for table in ("runs", "requests", "benchmarks"):
        running = f"SELECT 1 FROM {table} WHERE status = 'running'"
        assert store.read(frame_of, running).empty, table


OWNED = (
    ("requests", "run_id", "runs"), ("steps", "request_id", "requests"),
    ("decisions", "request_id", "requests"), ("samples", "request_id", "requests"),
    ("rounds", "run_id", "runs"),
)  # fmt: skip
KEYS = (
    ("runs", "run_id"), ("requests", "request_id"), ("steps", "request_id, step_index"),
    ("samples", "request_id"),
)  # fmt: skip

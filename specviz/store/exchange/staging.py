"""What arrived, as one Parquet file per table in a temporary folder, before anything is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from specviz.errors import UsageError
from specviz.store.exchange.exported_tables import (
    EXPORTED_TABLES,
    IMPORTED_AT,
    ExportedTable,
    columns,
    required,
)
from specviz.store.migrations import renamed

VALUES_PER_BYTE = 64
SPARE_VALUES = 1_000_000
"""A file that unpacks into more values than this was made to fill a disk: rows of specviz have ids,
times and probabilities, which take bytes."""

DERIVED = {"started_at": ("steps", "decisions")}
"""Columns that repeat those of the request: files of older versions lack them."""


@dataclass(frozen=True, slots=True)
class Staged:
    """Files by table: checked to be Parquet of the promised size, types not checked yet."""

    kind: str
    migrations: tuple[str, ...]
    files: Mapping[str, Path]

    def dataset(self, table: str) -> ds.Dataset:
        return ds.dataset([str(self.files[table])], format="parquet")


def check_file(
    connection: DuckDBPyConnection, table: str, path: Path, rows: int | None = None
) -> None:
    """Raises UsageError unless the file is Parquet of `rows` rows, if given, of a likely size."""
    try:
        found, values = _size(connection, path)
    except (duckdb.Error, OSError) as error:
        raise UsageError(f"{path.name} is not a Parquet file: the export is damaged.") from error
    if rows is not None and found != rows:
        raise UsageError(f"{path.name} has {found:,} rows, its manifest says {rows:,}.")
    if max(values, found) > SPARE_VALUES + VALUES_PER_BYTE * path.stat().st_size:
        raise UsageError(
            f"{path.name} would unpack into {values:,} values of {table}: it was not exported "
            "by specviz."
        )


def _size(connection: DuckDBPyConnection, path: Path) -> tuple[int, int]:
    """Rows and values of a Parquet file, from its footer.

    DuckDB reads it, because pyarrow 26 ends the process over a column whose histograms do not fit
    it: `RowGroupMetaData.column` lets no error of C++ through.
    """
    return connection.execute(
        "SELECT (SELECT sum(num_rows) FROM parquet_file_metadata($1))::BIGINT, "
        "(SELECT coalesce(sum(num_values), 0) FROM parquet_metadata($1))::BIGINT",
        [str(path)],
    ).fetchall()[0]


def with_current_names(staged: Staged, folder: Path) -> Staged:
    """What an older specviz exported, its tables and queries with the columns' names of now.

    Tables with another name in them are written again into `folder`. Raises UsageError for rows
    that cannot be read.
    """
    if renamed.MIGRATION in staged.migrations:
        return staged
    files = dict(staged.files)
    for table in files.keys() & {*renamed.RENAMED, renamed.QUERIES}:
        files[table] = folder / f"{table}.renamed.parquet"
        try:
            _write_renamed(table, staged.files[table], files[table])
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _unreadable(table, error) from error
    return replace(staged, files=files)


def _write_renamed(table: str, old: Path, new: Path) -> None:
    with pq.ParquetFile(old) as source:
        schema = source.schema_arrow
        names = [renamed.current_column(table, name) for name in schema.names]
        columns = [field.with_name(name) for field, name in zip(schema, names, strict=True)]
        with pq.ParquetWriter(new, pa.schema(columns), compression="zstd") as writer:
            for batch in source.iter_batches():
                if table == renamed.QUERIES:
                    rows = [renamed.current_row(table, row) for row in batch.to_pylist()]
                    batch = pa.RecordBatch.from_pylist(rows, schema=schema)
                writer.write_batch(batch.rename_columns(names))


def check_types(cursor: DuckDBPyConnection, staged: Staged) -> None:
    """Columns and values against this program's schema.

    Raises UsageError for a column that is unknown, of another type or holds invalid text, and for a
    required one that is missing or has no value.
    """
    all_needed = required(cursor)
    for table in staged.files:
        ours = columns(cursor, table)
        theirs = staged.dataset(table).schema
        needed = all_needed.get(table, frozenset())
        _check_columns(table, ours, theirs, needed)
        try:
            for batch in staged.dataset(table).to_batches():
                batch.validate(full=True)
                _check_filled(table, batch, needed)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _unreadable(table, error) from error


def _check_columns(table: str, ours: pa.Schema, theirs: pa.Schema, needed: frozenset[str]) -> None:
    if len(set(theirs.names)) != len(theirs.names):
        raise UsageError(f"The table {table} in the file has a column twice.")
    for column in theirs:
        if column.name not in ours.names:
            raise UsageError(
                f"The table {table} in the file has a column {column.name[:80]!r} that specviz "
                "does not know: update specviz."
            )
        wanted = ours.field(column.name).type
        if not _alike(wanted, column.type):
            raise UsageError(
                f"Column {column.name} of {table} holds {str(column.type)[:80]}, not {wanted}."
            )
    derived = {name for name, tables in DERIVED.items() if table in tables}
    missing = needed - set(theirs.names) - derived - {IMPORTED_AT}
    if missing:
        raise UsageError(f"The table {table} in the file lacks the column {min(missing)}.")


def _check_filled(table: str, batch: pa.RecordBatch, needed: frozenset[str]) -> None:
    for name in needed & set(batch.schema.names):
        if batch.column(name).null_count:
            raise UsageError(f"The table {table} has a row without {name}.")


def _alike(ours: pa.DataType, theirs: pa.DataType) -> bool:
    """The same type; names of list items and whether they may be NULL do not matter."""
    if pa.types.is_list(ours):
        return pa.types.is_list(theirs) and _alike(ours.value_type, theirs.value_type)
    if pa.types.is_struct(ours):
        return (
            pa.types.is_struct(theirs)
            and [field.name for field in ours] == [field.name for field in theirs]
            and all(_alike(a.type, b.type) for a, b in zip(ours, theirs, strict=True))
        )
    return bool(ours == theirs)


def tables_in(staged: Staged) -> list[ExportedTable]:
    """The tables that arrived, owners first."""
    return [table for table in EXPORTED_TABLES if table.name in staged.files]


def _unreadable(table: str, error: Exception) -> UsageError:
    reason = str(error).split("\n")[0][:120].rstrip(".")
    return UsageError(f"The rows of {table} cannot be read ({reason}).")

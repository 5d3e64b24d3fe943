"""What an import expands to: measured before anything is read as rows.

A small file can hold a large one: a zip of zeros, a Parquet dictionary whose one text is in every
row, JSON of empty lists.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from specviz.errors import UsageError
from specviz.store.quoting import identifier, literal

GIB = 1 << 30
VARIABLE = "SPECVIZ_IMPORT_GIB"
SPARE_GIB = 1.0
TIMES = 100
"""Exports of specviz expand 2 to 30 times; texts that repeat in every row, up to what is spare."""

VALUE_BYTES = 100
"""A value of JSON in Python: an empty list and its place take 64, an entry of a dictionary 100."""


def limit(file_bytes: int = 0) -> int:
    """The bytes that a file of this size may expand to.

    Raises UsageError for a limit in the environment that is no number.
    """
    return int(_chosen_gib() * GIB) + TIMES * file_bytes


def check_room(folder: Path, size: int) -> None:
    """Raises UsageError if so many bytes do not fit on the disk of `folder`."""
    free = shutil.disk_usage(folder).free
    if size > free:
        raise UsageError(
            f"It unpacks into {_gib(size)}, but {folder} has {_gib(free)} free: make room, or set "
            "TMPDIR to a larger disk."
        )


def check_json(text: bytes) -> None:
    """Raises UsageError for JSON whose values would take more memory than the limit."""
    values = sum(text.count(sign) for sign in (b",", b"[", b"{"))
    width = 4 if re.search(rb"[\xf0-\xf4]", text) else 1 if text.isascii() else 2
    _check(len(text) * width + VALUE_BYTES * values, limit())


def check_tables(connection: DuckDBPyConnection, files: Mapping[str, Path], file_bytes: int) -> int:
    """The bytes that the tables' rows take, a number 8, by a `measuring` connection.

    Raises UsageError if that is more than the limit, or the rows cannot be read.
    """
    total, allowed = 0, limit(file_bytes)
    for table, path in files.items():
        try:
            total += _row_bytes(connection, path)
        except duckdb.OutOfMemoryException as error:
            raise too_large(limit()) from error
        except (duckdb.Error, pa.ArrowException, OSError, ValueError) as error:
            reason = str(error).split("\n")[0][:120].rstrip(".")
            raise UsageError(f"The rows of {table} cannot be read ({reason}).") from error
        _check(total, allowed)
    return total


def measuring() -> DuckDBPyConnection:
    """A DuckDB that only measures: its limit holds for a page that pretends to be small too.

    One is enough for an import: opening it takes 8 ms, and a zip has ten files.

    Raises UsageError as `limit` does.
    """
    return duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{limit() // 2}B",
            "threads": 1,
            "temp_directory": "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        },
    )


def _row_bytes(connection: DuckDBPyConnection, path: Path) -> int:
    """Bytes of a Parquet file's values, every text counted as often as it occurs.

    DuckDB keeps dictionaries as they are, so this takes the memory of the pages.
    """
    schema = pq.read_schema(path)
    lengths = [_length(identifier(field.name), field.type) for field in schema]
    row = connection.execute(
        f"SELECT sum({' + '.join(lengths) or '0'}) FROM read_parquet(?, hive_partitioning=false)",
        [str(path)],
    ).fetchone()
    return int(row[0] or 0) if row else 0


def _length(value: str, kind: pa.DataType, depth: int = 0) -> str:
    """SQL for the bytes of one value; a number, and what a list or text takes itself, counts 8."""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return f"8 + coalesce(strlen({value}), 0)::HUGEINT"
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return f"8 + coalesce(octet_length({value}), 0)::HUGEINT"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        item = f"item{depth}"
        part = _length(item, kind.value_type, depth + 1)
        return f"8 + coalesce(list_sum(list_transform({value}, lambda {item}: {part})), 0)::HUGEINT"
    if pa.types.is_struct(kind) and kind.num_fields:
        parts = [
            _length(f"struct_extract({value}, {literal(field.name)})", field.type, depth)
            for field in kind
        ]
        return " + ".join(parts)
    return "8"


def _check(size: int, allowed: int) -> None:
    if size > allowed:
        raise too_large(allowed)


def too_large(allowed: int) -> UsageError:
    """The refusal, with the limit and how to raise it."""
    return UsageError(
        f"It would expand to more than {_gib(allowed)}, the limit for a file of its size: if it is "
        f"your own, set {VARIABLE} to a higher number of GiB."
    )


def _chosen_gib() -> float:
    text = os.environ.get(VARIABLE, "")
    try:
        chosen = float(text or SPARE_GIB)
    except ValueError:
        chosen = 0.0
    if not 0.0 < chosen <= 1e6:
        raise UsageError(f"{VARIABLE} must be a number of GiB, not {text[:40]!r}.")
    return chosen


def _gib(size: int) -> str:
    return f"{size / GIB:,.1f} GiB"

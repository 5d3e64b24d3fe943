"""Import of lines of JSON: into the same files that a Parquet export holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from specviz.errors import UsageError
from specviz.store.exchange.expansion import check_json
from specviz.store.exchange.exported_tables import BY_NAME, columns
from specviz.store.exchange.lines import DECISION_PLACE, KIND, STEP_NAMES, Json
from specviz.store.exchange.manifest import manifest_from
from specviz.store.exchange.staging import Staged
from specviz.store.migrations import renamed

LINE_BYTES = 64 * 1024 * 1024
"""The longest line: a request with its prompt, a step with its drafts."""

ROWS_AT_ONCE = 10_000
BYTES_AT_ONCE = 32 * 1024 * 1024
"""As much of the file is in memory as rows before they are written."""

Reader = Callable[[Any], Any]

_COLUMN_OF = {name: column for column, name in STEP_NAMES.items()}
_OTHER = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def stage_lines(cursor: DuckDBPyConnection, path: Path, folder: Path) -> Staged:
    """Turn the lines into one Parquet file per table in an empty folder.

    Raises UsageError, with the number of the line, for anything that `write_lines` did not write.
    """
    with path.open("rb") as file, ExitStack() as closing:
        lines = _lines(file)
        _, header = next(lines, (0, {}))
        manifest = manifest_from(header, KIND)
        is_old = renamed.MIGRATION not in manifest.migrations
        tables = _Tables(cursor, folder, closing, is_old=is_old)
        for number, line in lines:
            try:
                tables.take(line)
                tables.flush_after(file.tell())
            except (KeyError, TypeError, ValueError, OverflowError, pa.ArrowException) as error:
                raise UsageError(f"Line {number} cannot be read: {_reason(error)}.") from error
        tables.flush()
    found = dict(sorted(tables.counts.items()))
    promised = {table: entry.rows for table, entry in sorted(manifest.tables.items())}
    if found != promised:
        raise UsageError("The file does not hold the rows that its first line promises.")
    return Staged(KIND, manifest.migrations, tables.files)


def _lines(file: BinaryIO) -> Iterator[tuple[int, Json]]:
    """Numbered lines up to the end line, whose digest shows whether all of them are unchanged."""
    digest, number = hashlib.sha256(), 0
    while text := file.readline(LINE_BYTES + 1):
        number += 1
        if len(text) > LINE_BYTES:
            raise UsageError(f"Line {number} is longer than {LINE_BYTES >> 20} MiB.")
        line = _parsed(text, number)
        if line.get("type") == "end":
            if (line.get("lines"), line.get("sha256")) != (number - 1, digest.hexdigest()):
                raise UsageError("The file is not as it was exported: its SHA-256 differs.")
            if file.read(1):
                raise UsageError(f"Line {number} is the last one, but more follows.")
            return
        digest.update(text)
        yield number, line
    raise UsageError("The file has no last line with its SHA-256: it is cut off.")


def _parsed(text: bytes, number: int) -> Json:
    check_json(text)
    try:
        line = json.loads(text.decode(), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise UsageError(f"Line {number} is not UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"Line {number} is not JSON.") from error
    if not isinstance(line, dict):
        raise UsageError(f"Line {number} is not a JSON object.")
    return line


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


class _Tables:
    """Rows by table on their way into Parquet files; a request's events follow its row."""

    def __init__(
        self, cursor: DuckDBPyConnection, folder: Path, closing: ExitStack, *, is_old: bool
    ) -> None:
        self.files: dict[str, Path] = {}
        self.counts: dict[str, int] = {}
        self._schemas = {table: columns(cursor, table) for table in BY_NAME}
        self._readers = {
            table: {field.name: _reader(field.type) for field in schema}
            for table, schema in self._schemas.items()
        }
        self._folder, self._closing, self._is_old = folder, closing, is_old
        self._rows: dict[str, list[Json]] = {table: [] for table in BY_NAME}
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._request: Json = {}
        self._written_up_to = 0

    def take(self, line: Json) -> None:
        """Raises KeyError, TypeError, ValueError or ArrowException for a line we did not write."""
        kind = line["type"]
        if kind == "row":
            self._add(line["table"], line["row"])
        elif kind == "run":
            self._add("runs", line["row"])
        elif kind == "request":
            self._request = line["row"]
            self._add("requests", line["row"])
        elif kind == "step":
            self._add_step(line)
        elif kind not in ("started", "finished"):
            raise ValueError(f"its type is {str(kind)[:80]!r}")

    def _add_step(self, line: Json) -> None:
        place = {name: self._request[name] for name in ("started_at", "request_id")}
        step = {_COLUMN_OF.get(key, key): value for key, value in line.items()}
        drafted = step.pop("drafted")
        del step["type"]
        self._add("steps", place | step)
        place["step_index"] = step["step_index"]
        for index, decision in enumerate(drafted):
            if not isinstance(decision, dict) or set(DECISION_PLACE) & decision.keys():
                raise ValueError("a drafted token is not as exported")
            self._add("decisions", {**place, "draft_index": index, **decision})

    def _add(self, table: str, row: object) -> None:
        readers = self._readers[table]
        if not isinstance(row, dict):
            raise ValueError(f"a row of {table} must be an object")
        if self._is_old:
            row = renamed.current_row(table, row)
        if unknown := row.keys() - readers.keys():
            raise ValueError(f"{table} has no column {min(unknown)[:80]!r}")
        self._rows[table].append({key: readers[key](value) for key, value in row.items()})
        if len(self._rows[table]) >= ROWS_AT_ONCE:
            self._write(table)

    def flush_after(self, place: int) -> None:
        """Write what is left if the file was read far enough since; raises as `take`."""
        if place - self._written_up_to > BYTES_AT_ONCE:
            self._written_up_to = place
            for table, rows in self._rows.items():
                if rows:
                    self._write(table)

    def flush(self) -> None:
        """Write what is left. Raises UsageError for values of the wrong type."""
        for table, rows in self._rows.items():
            if rows:
                try:
                    self._write(table)
                except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
                    raise UsageError(
                        f"A row of {table} cannot be read: {_reason(error)}."
                    ) from error

    def _write(self, table: str) -> None:
        rows, self._rows[table] = self._rows[table], []
        batch = pa.Table.from_pylist(rows, schema=self._schemas[table])
        if table not in self._writers:
            self.files[table] = self._folder / f"{table}.parquet"
            writer = pq.ParquetWriter(self.files[table], batch.schema, compression="zstd")
            self._writers[table] = self._closing.enter_context(writer)
        self._writers[table].write_table(batch)
        self.counts[table] = self.counts.get(table, 0) + len(rows)


def _reader(kind: pa.DataType) -> Reader:
    """Converts JSON to a column's value; a number is never taken from text or a boolean."""
    if pa.types.is_list(kind):
        part = _reader(kind.value_type)
        return lambda value: None if value is None else [part(one) for one in _a(value, list)]
    if pa.types.is_struct(kind):
        return _struct_reader({field.name: _reader(field.type) for field in kind})
    if pa.types.is_timestamp(kind):
        return _moment
    if pa.types.is_floating(kind):
        return _float
    plain = bool if pa.types.is_boolean(kind) else int if pa.types.is_integer(kind) else str
    return lambda value: value if value is None or type(value) is plain else _a(value, plain)


def _struct_reader(parts: dict[str, Reader]) -> Reader:
    def read(value: Any) -> Any:
        if value is None:
            return None
        if _a(value, dict).keys() != parts.keys():
            raise ValueError(f"{str(value)[:80]!r} does not have the parts {', '.join(parts)}")
        return {name: part(value[name]) for name, part in parts.items()}

    return read


def _moment(value: Any) -> datetime | None:
    if value is None:
        return None
    moment = datetime.fromisoformat(_a(value, str))
    if moment.tzinfo is not None:
        raise ValueError(f"{value!r} has a time zone")
    return moment


def _float(value: Any) -> float | None:
    if value is None or type(value) is float:
        return value
    return float(_OTHER[value] if isinstance(value, str) else _a(value, int))


def _a(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise ValueError(f"{str(value)[:80]!r} is of the wrong type")
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{str(error)[:80]} is missing or not known"
    return str(error).split("\n")[0][:160].rstrip(".")

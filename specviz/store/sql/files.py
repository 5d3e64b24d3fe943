"""The answer to a query as a file, exactly as the database gave it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from specviz.store.sql.result import SqlResult, document, plain_value

if TYPE_CHECKING:
    import pyarrow as pa

_KEPT = (bool, int, float, str, bytes, datetime, date, time, Decimal)


def as_csv(result: SqlResult) -> bytes:
    """A line of names, then one per row; nothing where a value is missing, lists as JSON."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in result.columns)
    writer.writerows([_field(value) for value in row] for row in result.rows)
    return text.getvalue().encode()


def as_json(result: SqlResult) -> bytes:
    """What `specviz query --json` prints."""
    return json.dumps(document(result), ensure_ascii=False, indent=1).encode()


def as_parquet(result: SqlResult) -> bytes:
    """Columns of numbers, words, times, lists and structs; as text what Parquet has no type for."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    names = unique_names([column.name for column in result.columns])
    values = [[row[place] for row in result.rows] for place in range(len(names))]
    arrays: list[pa.Array] = [_array(column) for column in values]
    buffer = io.BytesIO()
    parquet.write_table(pa.table(arrays, names=names), buffer)
    return buffer.getvalue()


FILES: dict[str, tuple[Callable[[SqlResult], bytes], str]] = {
    "csv": (as_csv, "text/csv"),
    "json": (as_json, "application/json"),
    "parquet": (as_parquet, "application/vnd.apache.parquet"),
}
"""How each kind of file is made, and its media type."""


def unique_names(names: Sequence[str]) -> list[str]:
    """Every name once: `count`, `count (2)`; SQL may call several columns the same."""
    found: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate in found:
            number += 1
            candidate = f"{name} ({number})"
        found.append(candidate)
    return found


def text_of(value: Any) -> str:
    """Any value as text: lists and structs as JSON, true and false in small letters."""
    plain = _field(value)
    return json.dumps(plain) if isinstance(plain, bool) else str(plain)


def _field(value: Any) -> Any:
    plain = plain_value(value)
    return json.dumps(plain, ensure_ascii=False) if isinstance(plain, list | dict) else plain


def _array(values: Sequence[Any]) -> pa.Array:
    import pyarrow as pa

    plain = [value if isinstance(value, _KEPT) else plain_value(value) for value in values]
    try:
        return pa.array(plain)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        texts = [value if value is None else str(_field(value)) for value in values]
        return pa.array(texts, pa.string())

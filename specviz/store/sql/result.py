"""The answer to a user's query, and as JSON for programs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class Column:
    """`type` is DuckDB's: VARCHAR, DOUBLE, STRUCT(…)[], ..."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class SqlResult:
    """Rows as DuckDB gives them to Python; `truncated` if there were more than asked for.

    `data_as_of` (UTC): all that was committed before is in the answer.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool
    elapsed_ms: float
    data_as_of: datetime | None = None


def document(result: SqlResult) -> dict[str, Any]:
    """The result as `specviz query --json` prints it.

    Dates and times in ISO 8601, blobs in hexadecimal, and as text what JSON has no number for
    (NaN, Infinity).
    """
    as_of = {} if result.data_as_of is None else {"data_as_of": result.data_as_of.isoformat()}
    return {
        "columns": [{"name": column.name, "type": column.type} for column in result.columns],
        "rows": [[plain_value(value) for value in row] for row in result.rows],
        "truncated": result.truncated,
        "elapsed_ms": round(result.elapsed_ms, 1),
        **as_of,
    }


def plain_value(value: Any) -> Any:
    """A value of DuckDB's as JSON has it; see `document`."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value).replace("inf", "Infinity")
        case Decimal():
            return plain_value(float(value))
        case datetime() | date() | time():
            return value.isoformat()
        case bytes() | bytearray():
            return value.hex()
        case Mapping():
            return {str(key): plain_value(one) for key, one in value.items()}
        case list() | tuple():
            return [plain_value(one) for one in value]
        case _:
            return str(value)

"""What goes through the pipes to and from the process of users' SQL: JSON after its length.

JSON, because the process is not trusted and values must come back as DuckDB gave them: pickle would
run what it is sent, and Arrow has no such type for HUGEINT, UUID, INTERVAL or a map's keys.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from specviz.store.sql.result import plain_value

HEADER = struct.Struct(">Q")
MOST_BYTES = 256 * 1024**2

_TAG = "\ue000specviz"
"""Key of a value that JSON has no type for; it has its type's name and its text."""

_WRITE: Mapping[type, Callable[[Any], str]] = {
    bytes: bytes.hex,
    datetime: datetime.isoformat,
    date: date.isoformat,
    time: time.isoformat,
    timedelta: lambda value: f"{value.days} {value.seconds} {value.microseconds}",
    Decimal: str,
    UUID: str,
}
_READ: Mapping[str, Callable[[str], Any]] = {
    "bytes": bytes.fromhex,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": lambda text: timedelta(*map(int, text.split())),
    "Decimal": Decimal,
    "UUID": UUID,
}


def packed(message: Mapping[str, Any]) -> bytes:
    """One frame. Raises ValueError for a message that is too large, or nested too deeply."""
    try:
        body = json.dumps(message, default=_tagged, ensure_ascii=False).encode(errors="replace")
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if len(body) > MOST_BYTES:
        raise ValueError("too large")
    return HEADER.pack(len(body)) + body


def unpacked(body: bytes | bytearray) -> dict[str, Any]:
    """The message of a frame. Raises ValueError for what is none."""
    try:
        message = json.loads(body, object_hook=_untagged)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(message, dict):
        raise ValueError("no message")
    return message


def _tagged(value: Any) -> dict[str, Any]:
    write = _WRITE.get(type(value))
    if write is None:
        return {_TAG: ["str", str(plain_value(value))]}
    return {_TAG: [type(value).__name__, write(value)]}


def _untagged(found: dict[str, Any]) -> Any:
    if found.keys() != {_TAG}:
        return found
    kind, text = found[_TAG]
    read = _READ.get(str(kind))
    return str(text) if read is None else read(str(text))

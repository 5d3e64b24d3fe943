"""Recorded arrivals: one request per line, when it came and what it was like.

A line is a number of seconds, or a JSON object with `at_s` and, where they are known,
`temperature` and `category`. The first line may come at any time: only differences count.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from specviz.bench.load.traffic import Arrival
from specviz.errors import UsageError

KEYS = {"at_s", "temperature", "category"}
MAX_BYTES = 1024 * 1024


def read_arrivals(path: Path) -> tuple[Arrival, ...]:
    """The arrivals of a file, the first one at 0 s. Raises UsageError with the line."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UsageError(f"The arrivals {path} are over 1 MiB: cut the file.")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The arrivals {path} cannot be read: {error}.") from error
    found = [
        _arrival(line, f"Line {number} of {path}")
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    if not found:
        raise UsageError(f"The file of arrivals {path} is empty.")
    first = found[0].at_s
    for number, (earlier, later) in enumerate(pairwise(found), start=2):
        if later.at_s < earlier.at_s:
            raise UsageError(
                f"Arrival {number} of {path} comes before the one above it: sort them by time."
            )
    return tuple(replace(one, at_s=round(one.at_s - first, 6)) for one in found)


def arrival_of(value: Any, where: str) -> Arrival:
    """A number of seconds, or an object. Raises UsageError that begins with `where`."""
    if _is_number(value):
        value = {"at_s": value}
    if not isinstance(value, dict) or "at_s" not in value:
        raise UsageError(f"{where} is neither a number of seconds nor an object with at_s.")
    if unknown := sorted(value.keys() - KEYS):
        raise UsageError(f"{where} has {unknown[0]!r}: known are {', '.join(sorted(KEYS))}.")
    temperature, category = value.get("temperature"), value.get("category")
    if not _is_number(value["at_s"]) or not (temperature is None or _is_number(temperature)):
        raise UsageError(f"{where}: at_s and temperature must be numbers.")
    if not (category is None or isinstance(category, str)):
        raise UsageError(f"{where}: category must be text.")
    try:
        return Arrival(
            float(value["at_s"]), None if temperature is None else float(temperature), category
        )
    except (UsageError, OverflowError) as error:
        raise UsageError(f"{where}: {error}") from error


def _arrival(line: str, where: str) -> Arrival:
    try:
        return arrival_of(json.loads(line), where)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{where} is neither a number of seconds nor an object with at_s."
        ) from error


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

"""Exports as lines of JSON: a header, then runs with their requests and events, then the rest.

    {"specviz": "jsonl", "format": 1, …}               the manifest
    {"type": "run", "row": {…}}                        a row of `runs`
    {"type": "request", "row": {…}}                    a row of `requests`, and of its trace:
    {"type": "started", "request_id": …, "fidelity": …}
    {"type": "step", "index": 0, "drafted": […], "emitted": […], …}
    {"type": "finished", "prompt_token_ids": […], …}   the events of `specviz.wire`
    {"type": "row", "table": "samples", "row": {…}}    a row of any other table
    {"type": "end", "lines": 7, "sha256": …}           of all lines before

Times of day are UTC in ISO 8601. A number that JSON cannot hold is written as "NaN",
"Infinity" or "-Infinity".
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.store.exchange.exported_tables import BY_NAME, EXPORTED_TABLES
from specviz.store.exchange.manifest import FileEntry, Manifest, manifest_of
from specviz.store.exchange.portions import IN_PORTIONS, Portion, portions
from specviz.store.exchange.selection import Selection, as_dicts, count, rows
from specviz.store.runs.runs import totals_of

KIND = "jsonl"
STEP_NAMES = {"step_index": "index"}
DECISION_PLACE = ("started_at", "request_id", "step_index", "draft_index")
"""Columns of `decisions` that follow from the line and the place in it."""

STEP_PLACE = ("started_at", "request_id")
Json = dict[str, Any]
_TRACED = ("runs", *IN_PORTIONS)


def write_lines(cursor: DuckDBPyConnection, selection: Selection, path: Path) -> Manifest:
    """Write the file. Raises OSError."""
    counts = {table.name: count(cursor, table, selection) for table in EXPORTED_TABLES}
    tables = {name: FileEntry(count) for name, count in counts.items() if count}
    manifest = manifest_of(KIND, selection, tables)
    digest, number = hashlib.sha256(), 0
    with path.open("wb") as file:
        for line in _lines(cursor, selection, manifest):
            text = _text(line).encode() + b"\n"
            digest.update(text)
            file.write(text)
            number += 1
        end = {"type": "end", "lines": number, "sha256": digest.hexdigest()}
        file.write(json.dumps(end).encode() + b"\n")
    return manifest


def _lines(cursor: DuckDBPyConnection, selection: Selection, manifest: Manifest) -> Iterator[Json]:
    yield manifest.to_dict()
    for table in EXPORTED_TABLES:
        if table.name == "runs":
            yield from _runs(cursor, selection)
        elif table.name not in _TRACED:
            order = f"ORDER BY {', '.join(table.key)}"
            for row in as_dicts(rows(cursor, table, selection, order)):
                yield {"type": "row", "table": table.name, "row": row}


def _runs(cursor: DuckDBPyConnection, selection: Selection) -> Iterator[Json]:
    """Every run, each followed by its requests and their events."""
    order = "ORDER BY started_at, run_id"
    for run in rows(cursor, BY_NAME["runs"], selection, order).read_all().to_pylist():
        yield {"type": "run", "row": run}
        for portion in portions(cursor, [run["run_id"]]):
            yield from _requests(cursor, portion)


def _requests(cursor: DuckDBPyConnection, portion: Portion) -> Iterator[Json]:
    """The requests of a portion, each followed by its events."""
    requests, steps, decisions = (_of(cursor, table, portion) for table in IN_PORTIONS)
    steps_of = _Rows(steps, ("started_at", "request_id"))
    decisions_of = _Rows(decisions, ("started_at", "request_id", "step_index"))
    timed = _timed(cursor, portion)
    for request in requests:
        request_id = request["request_id"]
        yield {"type": "request", "row": request}
        if request["fidelity"] is None or request_id in timed:
            continue
        yield {"type": "started", "request_id": request_id, "fidelity": request["fidelity"]}
        for step in steps_of.next(request):
            yield _step(step, decisions_of.next(step))
        if request["finish_reason"] is not None:
            yield _finished(request)


def _of(cursor: DuckDBPyConnection, table: str, portion: Portion) -> Iterator[Json]:
    """Rows by time, then by key. They are read now, and become Python's little by little."""
    order = ", ".join(("started_at", *BY_NAME[table].key))
    sql = f"SELECT * FROM {table} WHERE {Portion.WHERE} ORDER BY {order}"
    return as_dicts(cursor.execute(sql, portion.values).to_arrow_table().to_batches())


def _timed(cursor: DuckDBPyConnection, portion: Portion) -> set[str]:
    """Those that the timing client sent: their steps are in `samples`."""
    cursor.execute(
        "SELECT request_id FROM samples WHERE request_id IN (SELECT unnest(?::VARCHAR[]))",
        [portion.ids],
    )
    return {row[0] for row in cursor.fetchall()}


class _Rows:
    """Rows in the order of their owners, which ask for theirs in the same order."""

    def __init__(self, rows: Iterator[Json], owner: tuple[str, ...]) -> None:
        self._rows, self._key = rows, itemgetter(*owner)
        self._first = next(rows, None)

    def next(self, owner: Json) -> Iterator[Json]:
        """The rows of `owner`; those of owners before it that nobody asked for are left out."""
        wanted = self._key(owner)
        while (row := self._first) is not None and self._key(row) <= wanted:
            self._first = next(self._rows, None)
            if self._key(row) == wanted:
                yield row


def _step(step: Json, decisions: Iterable[Json]) -> Json:
    values = {STEP_NAMES.get(key, key): step[key] for key in step if key not in STEP_PLACE}
    line: Json = {"type": "step"} | values
    line["drafted"] = [
        {key: value for key, value in decision.items() if key not in DECISION_PLACE}
        for decision in decisions
    ]
    return line


def _finished(request: Json) -> Json:
    parts = {name: request[f"extra_{name}_bytes"] for name in ("weights", "kv_cache", "buffers")}
    totals = totals_of(request)
    return {
        "type": "finished",
        "prompt_token_ids": request["prompt_token_ids"] or [],
        "ttft_ms": request["ttft_ms"],
        "e2el_ms": request["e2el_ms"],
        "finish_reason": request["finish_reason"],
        "extra_bytes": None if None in parts.values() else parts,
        "totals": totals and asdict(totals),
    }


def _text(line: Json) -> str:
    try:
        return json.dumps(line, ensure_ascii=False, allow_nan=False, default=datetime.isoformat)
    except ValueError:  # a number that JSON cannot hold: rare, and slow to look for
        return json.dumps(strict(line), ensure_ascii=False, allow_nan=False)


def strict(value: Any) -> Any:
    """Strict JSON: times, and numbers that it cannot hold, become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {key: strict(part) for key, part in value.items()}
    if isinstance(value, list):
        return [strict(part) for part in value]
    return value

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
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.store.exchange.exported_tables import BY_NAME, EXPORTED_TABLES, ExportedTable
from specviz.store.exchange.manifest import FileEntry, Manifest, manifest_of
from specviz.store.exchange.selection import Selection, rows
from specviz.store.runs.runs import totals_of

KIND = "jsonl"
STEP_NAMES = {"step_index": "index"}
DECISION_PLACE = ("started_at", "request_id", "step_index", "draft_index")
"""Columns of `decisions` that follow from the line and the place in it."""

STEP_PLACE = ("started_at", "request_id")
AT_ONCE = 100
"""Requests whose steps are read with one query."""

Json = dict[str, Any]
_TRACED = ("runs", "requests", "steps", "decisions")


def write_lines(cursor: DuckDBPyConnection, selection: Selection, path: Path) -> Manifest:
    """Write the file. Raises OSError."""
    counts = {table.name: _count(cursor, selection, table) for table in EXPORTED_TABLES}
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


def _count(cursor: DuckDBPyConnection, selection: Selection, table: ExportedTable) -> int:
    reader = rows(cursor, table, selection, columns="count(*)")
    return int(reader.read_all().column(0)[0].as_py())


def _lines(cursor: DuckDBPyConnection, selection: Selection, manifest: Manifest) -> Iterator[Json]:
    yield manifest.to_dict()
    for table in EXPORTED_TABLES:
        if table.name == "runs":
            yield from _runs(cursor, selection)
        elif table.name not in _TRACED:
            order = f"ORDER BY {', '.join(table.key)}"
            for batch in rows(cursor, table, selection, order):
                for row in batch.to_pylist():
                    yield {"type": "row", "table": table.name, "row": row}


def _runs(cursor: DuckDBPyConnection, selection: Selection) -> Iterator[Json]:
    """Every run, each followed by its requests and their events."""
    order = "ORDER BY started_at, run_id"
    for run in rows(cursor, BY_NAME["runs"], selection, order).read_all().to_pylist():
        yield {"type": "run", "row": run}
        cursor.execute(
            "SELECT * FROM requests WHERE run_id = ? ORDER BY started_at, request_id",
            [run["run_id"]],
        )
        requests = cursor.arrow().read_all().to_pylist()
        for start in range(0, len(requests), AT_ONCE):
            yield from _requests(cursor, requests[start : start + AT_ONCE])


def _requests(cursor: DuckDBPyConnection, requests: list[Json]) -> Iterator[Json]:
    ids = [request["request_id"] for request in requests]
    steps, decisions = defaultdict(list), defaultdict(list)
    for row in _of(cursor, "steps", "step_index", ids):
        steps[row["request_id"]].append(row)
    for row in _of(cursor, "decisions", "step_index, draft_index", ids):
        decisions[row["request_id"], row["step_index"]].append(row)
    timed = {row["request_id"] for row in _of(cursor, "samples", "request_id", ids)}
    for request in requests:
        request_id = request["request_id"]
        yield {"type": "request", "row": request}
        if request["fidelity"] is None or request_id in timed:
            continue
        yield {"type": "started", "request_id": request_id, "fidelity": request["fidelity"]}
        for step in steps[request_id]:
            yield _step(step, decisions[request_id, step["step_index"]])
        if request["finish_reason"] is not None:
            yield _finished(request)


def _of(cursor: DuckDBPyConnection, table: str, order: str, ids: list[str]) -> Iterator[Json]:
    cursor.execute(
        f"SELECT * FROM {table} WHERE request_id IN (SELECT unnest(?::VARCHAR[])) "
        f"ORDER BY request_id, {order}",
        [ids],
    )
    for batch in cursor.arrow():
        yield from batch.to_pylist()


def _step(step: Json, decisions: list[Json]) -> Json:
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

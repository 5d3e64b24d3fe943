"""Import of results of other tools, into `elsewhere` and `elsewhere_requests`."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from duckdb import DuckDBPyConnection

from specviz.errors import UsageError
from specviz.store.exchange.arrival import Arrived
from specviz.store.exchange.expansion import check_json, limit, too_large
from specviz.store.exchange.exported_tables import NOUNS, RowOwner, columns
from specviz.store.exchange.guidellm import GUIDELLM, is_report, read_guidellm
from specviz.store.exchange.labels import ImportLabels
from specviz.store.exchange.vllm_bench import VLLM_BENCH, read_vllm_bench
from specviz.store.runs.tables import insert_arrow

_SPACE = re.compile(r"\s*")
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Results:
    """One file: rows of `elsewhere`, each with its requests, and what was computed here."""

    tool: str
    rows: tuple[Json, ...]
    requests: tuple[tuple[Json, ...], ...]
    notes: tuple[str, ...] = field(default=())


def read_results(path: Path, name: str, labels: ImportLabels) -> Results:
    """Results of `vllm bench serve` or of GuideLLM. Raises UsageError for anything else."""
    if path.stat().st_size > limit():
        raise too_large(limit())
    content = path.read_bytes()
    check_json(content)
    documents = _documents(content)
    is_guidellm = is_report(documents)
    tool, read = (GUIDELLM, read_guidellm) if is_guidellm else (VLLM_BENCH, read_vllm_bench)
    try:
        measured, notes = read(documents)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UsageError(
            f"These are not results of vllm bench serve or GuideLLM as they are known here "
            f"({str(error)[:120]})."
        ) from error
    digest = hashlib.sha256(content).hexdigest()
    rows, kept = [], 0
    for index, one in enumerate(measured):
        own = {
            "elsewhere_id": hashlib.sha256(f"{digest}/{index}".encode()).hexdigest()[:32],
            "name": _name(labels, one.row, index, len(measured)),
            "tool": tool,
            "file_name": name,
            "file_sha256": digest,
            "method": labels.method and labels.method.value,
            "document": json.dumps(one.document, ensure_ascii=False),
        }
        kept += len(own["document"] or "")
        if kept > limit():  # every benchmark of a GuideLLM report keeps the report's head
            raise too_large(limit())
        row = one.row | own
        row["k"] = labels.k if labels.k is not None else row.get("k")
        rows.append(_finite(row))
    requests = tuple(tuple(map(_finite, one.requests)) for one in measured)
    return Results(tool, tuple(rows), requests, notes)


def put_results(cursor: DuckDBPyConnection, results: Results) -> Arrived:
    """Store what is not here yet, within the caller's transaction.

    Raises UsageError for values that the tables cannot hold.
    """
    ids = [row["elsewhere_id"] for row in results.rows]
    cursor.execute(
        "SELECT elsewhere_id, deleted_at IS NOT NULL FROM elsewhere "
        "WHERE elsewhere_id IN (SELECT unnest(?::VARCHAR[]))",
        [ids],
    )
    here = dict(cursor.fetchall())
    now = datetime.now(UTC).replace(tzinfo=None)
    rows, requests = [], []
    for row, members in zip(results.rows, results.requests, strict=True):
        if row["elsewhere_id"] not in here:
            rows.append(row | {"imported_at": now})
            owner = {"elsewhere_id": row["elsewhere_id"]}
            requests += [owner | {"request_index": i} | one for i, one in enumerate(members)]
    _insert(cursor, "elsewhere", rows)
    _insert(cursor, "elsewhere_requests", requests)
    noun = NOUNS[RowOwner.TOOL_RESULT]
    stored = [row["elsewhere_id"] for row in rows]
    return Arrived(
        stored={noun: stored} if stored else {},
        already={noun: sorted(here)} if here else {},
        deleted=tuple(sorted(one for one, deleted in here.items() if deleted)),
        rows=len(rows) + len(requests),
    )


def _insert(cursor: DuckDBPyConnection, table: str, rows: Sequence[Json]) -> None:
    try:
        arrow = pa.Table.from_pylist(list(rows), schema=columns(cursor, table))
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"A figure is not of the type it should be ({error}).") from error
    insert_arrow(cursor, table, arrow)


def _documents(content: bytes) -> list[Any]:
    """The JSON documents of a file, one after another: vLLM appends them to a file."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError("The file is not UTF-8.") from error
    decoder, documents = json.JSONDecoder(), []
    place = _after_space(text, 0)
    try:
        while place < len(text):
            document, place = decoder.raw_decode(text, place)
            place = _after_space(text, place)
            documents.append(document)
    except (ValueError, RecursionError) as error:
        raise UsageError("The file is not JSON.") from error
    return documents


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _name(labels: ImportLabels, row: Json, index: int, count: int) -> str:
    """The name from the labels, numbered where a file has several results; else the file's."""
    shown = labels.name or row["name"]
    return f"{shown} {index + 1}" if labels.name and count > 1 else str(shown)


def _finite(value: Any) -> Any:
    """NaN and infinity, which Python's JSON writers let through, become None."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    return value

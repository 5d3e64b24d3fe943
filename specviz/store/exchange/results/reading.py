"""A file of another tool's results: which tool wrote it, and the rows that it becomes."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specviz.errors import UsageError
from specviz.store.exchange.expansion import check_json, limit, too_large
from specviz.store.exchange.labels import ImportLabels
from specviz.store.exchange.results.aiperf import AIPERF, AIPERF_RECORDS
from specviz.store.exchange.results.documents import documents_in
from specviz.store.exchange.results.guidellm import GUIDELLM
from specviz.store.exchange.results.llama_dump import LLAMA_DUMP
from specviz.store.exchange.results.measured import Json, Reading
from specviz.store.exchange.results.sglang_bench import SGLANG_BENCH
from specviz.store.exchange.results.specforge import SPECFORGE
from specviz.store.exchange.results.specspecs import (
    SPECSPECS,
    digest_of,
    log_parts,
    read_log,
    unpack_log,
)
from specviz.store.exchange.results.vllm_bench import VLLM_BENCH

FORMATS = (
    GUIDELLM, AIPERF, AIPERF_RECORDS, SPECFORGE, LLAMA_DUMP, VLLM_BENCH, SGLANG_BENCH,
)  # fmt: skip
_OTHER_FORM = (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError)


@dataclass(frozen=True, slots=True)
class Results:
    """One file: rows of `elsewhere`, each with its requests, and what was computed here."""

    tool: str
    rows: tuple[Json, ...]
    requests: tuple[tuple[Json, ...], ...]
    notes: tuple[str, ...] = ()


def read_results(path: Path, name: str, labels: ImportLabels) -> Results:
    """Results in JSON. Raises UsageError for those of no known tool."""
    if path.stat().st_size > limit():
        raise too_large(limit())
    content = path.read_bytes()
    check_json(content)
    documents = documents_in(content)
    form = next((form for form in FORMATS if form.recognises(documents)), None)
    if form is None:
        tools = ", ".join(dict.fromkeys(form.tool for form in FORMATS))
        raise UsageError(f"This JSON is of no tool that specviz reads: it reads {tools}.")
    try:
        reading = form.read(documents)
    except _OTHER_FORM as error:
        raise _other_form(form.tool, error) from error
    digest = hashlib.sha256(content).hexdigest()
    return _results(form.tool, reading, digest, name, labels)


def read_specspecs(path: Path, name: str, labels: ImportLabels, work: Path) -> Results:
    """A log of specspecs: its folder, or a zip of it, unpacked into `work`. Raises UsageError."""
    parts = log_parts(path) if path.is_dir() else unpack_log(path, work)
    try:
        reading = read_log(parts)
    except _OTHER_FORM as error:
        raise _other_form(SPECSPECS, error) from error
    return _results(SPECSPECS, reading, digest_of(parts), name, labels)


def _results(tool: str, reading: Reading, digest: str, name: str, labels: ImportLabels) -> Results:
    measured, notes = reading
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


def _other_form(tool: str, error: Exception) -> UsageError:
    return UsageError(
        f"These are not results of {tool} as they are known here ({_reason(error)[:120]})."
    )


def _reason(error: Exception) -> str:
    """One line; a KeyError only names what is missing."""
    found = " ".join(str(error).split())
    return f"{found} is missing" if isinstance(error, KeyError) else found


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

"""Reads runs, requests and traces: each function takes the cursor of `Store.read`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from itertools import repeat
from operator import itemgetter
from typing import Any

from duckdb import DuckDBPyConnection

from specviz.analysis.metrics import Metrics
from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus, Sampling
from specviz.errors import StoreError
from specviz.methods import Method
from specviz.trace import (
    Allowed,
    Channel,
    EmittedToken,
    ExtraBytes,
    Fidelity,
    Lane,
    Origin,
    Span,
    SpecTotals,
    Step,
    TokenDecision,
    TopToken,
    Trace,
    Verdict,
)

PROMPT_START_CHARS = 80

# ten times as fast as calling the enum, and a trace has thousands
_VERDICTS = {verdict.value: verdict for verdict in Verdict}
_ORIGINS = {origin.value: origin for origin in Origin}
_CHANNELS = {channel.value: channel for channel in Channel}


@dataclass(frozen=True, slots=True)
class RequestRow:
    """One request without its steps. Times ms; `fidelity` is None if it never started.

    `metrics` is None while it runs, `extra_bytes` where the engine does not report it. Of an
    interrupted request, times are those measured so far.
    """

    request_id: str
    run_id: str
    prompt: Prompt
    status: RunStatus
    error: str | None
    fidelity: Fidelity | None
    finish_reason: str | None
    started_at: datetime
    ttft_ms: float | None
    e2el_ms: float | None
    output_text: str | None
    side_text: str | None
    metrics: Metrics | None
    extra_bytes: ExtraBytes | None = None


@dataclass(frozen=True, slots=True)
class RequestTitle:
    """One request as a list shows it."""

    request_id: str
    prompt_start: str
    category: str | None
    status: str


def read_run(cursor: DuckDBPyConnection, run_id: str) -> Run:
    """Raises StoreError if there is none."""
    cursor.execute("SELECT * FROM runs WHERE run_id = ?", [run_id])
    for row in rows_of(cursor):
        return _run(row)
    raise StoreError(f"There is no run {run_id} in the database.")


def read_group(cursor: DuckDBPyConnection, group_id: str) -> list[Run]:
    """Runs of the group, oldest first. Raises StoreError if there is none."""
    cursor.execute("SELECT * FROM runs WHERE group_id = ? ORDER BY started_at, run_id", [group_id])
    runs = [_run(row) for row in rows_of(cursor)]
    if not runs:
        raise StoreError(f"There is no group {group_id} in the database.")
    return runs


def read_requests(cursor: DuckDBPyConnection, run_id: str) -> list[RequestRow]:
    """Requests of a run in the order they were sent.

    Sorted here: DuckDB would hold all texts at once to sort whole rows.
    """
    cursor.execute("SELECT * FROM requests WHERE run_id = ?", [run_id])
    rows = sorted(rows_of(cursor), key=itemgetter("started_at", "request_id"))
    return [request_of(row) for row in rows]


def read_titles(cursor: DuckDBPyConnection, run_id: str) -> list[RequestTitle]:
    """All requests of a run in the order they were sent; none for an unknown run."""
    cursor.execute(
        f"SELECT request_id, left(prompt, {PROMPT_START_CHARS}) AS prompt_start, category, status "
        "FROM requests WHERE run_id = ? ORDER BY started_at, request_id",
        [run_id],
    )
    return [RequestTitle(**row) for row in rows_of(cursor)]


def read_request(cursor: DuckDBPyConnection, run_id: str, place: int = 0) -> RequestRow:
    """The request at a place, from 0, in the order of `read_titles`. Raises StoreError."""
    cursor.execute(
        "SELECT * FROM requests WHERE run_id = ? ORDER BY started_at, request_id LIMIT 1 OFFSET ?",
        [run_id, place],
    )
    for row in rows_of(cursor):
        return request_of(row)
    raise StoreError(f"Nothing is stored of request {place + 1} of run {run_id} yet.")


def count_requests(cursor: DuckDBPyConnection, run_id: str) -> int:
    """How many requests of a run are stored; 0 for an unknown run."""
    cursor.execute("SELECT count(*) FROM requests WHERE run_id = ?", [run_id])
    row = cursor.fetchone()
    assert row is not None
    return int(row[0])


def read_trace(cursor: DuckDBPyConnection, request_id: str) -> Trace:
    """Raises StoreError if there is no such request or it never started."""
    cursor.execute(
        "SELECT * EXCLUDE (prompt, output_text, side_text) FROM requests WHERE request_id = ?",
        [request_id],
    )
    row = next(rows_of(cursor), None)
    if row is None:
        raise StoreError(f"There is no request {request_id} in the database.")
    if row["fidelity"] is None:
        raise StoreError(f"Request {request_id} has no trace: the engine never took it.")
    finished = row["finish_reason"] is not None
    return Trace(
        request_id=request_id,
        fidelity=Fidelity(row["fidelity"]),
        steps=_steps(cursor, request_id, row["started_at"]),
        prompt_token_ids=tuple(row["prompt_token_ids"] or ()),
        ttft_ms=row["ttft_ms"] if finished else None,
        e2el_ms=row["e2el_ms"] if finished else None,
        finish_reason=row["finish_reason"],
        extra_bytes=_extra_bytes(row),
        totals=totals_of(row) if finished else None,
    )


def totals_of(row: Mapping[str, Any]) -> SpecTotals | None:
    """The server's totals of a request whose steps are inferred; of any other the steps say it all.

    Tokens per step are the server's where output tokens could not be counted.
    """
    if row["fidelity"] != Fidelity.INFERRED:
        return None
    per_step = row["tokens_per_step"] if row["output_tokens"] is None else None
    totals = SpecTotals(
        row["num_draft_tokens"], row["num_accepted_tokens"], row["num_drafts"], per_step
    )
    return None if totals == SpecTotals() else totals


def rows_of(cursor: DuckDBPyConnection) -> Iterator[dict[str, Any]]:
    """The rows of the cursor's last query, as dicts by column name."""
    names = [column[0] for column in cursor.description or ()]
    while batch := cursor.fetchmany(1000):
        for values in batch:
            yield dict(zip(names, values, strict=True))


def _steps(cursor: DuckDBPyConnection, request_id: str, started_at: datetime) -> tuple[Step, ...]:
    """Found by time, which ascends through the tables while ids do not.

    Sorted here: for a few rows that is faster than DuckDB's sort.
    """
    drafted = _drafted(cursor, request_id, started_at)
    cursor.execute(
        "SELECT * FROM steps WHERE started_at = ? AND request_id = ?", [started_at, request_id]
    )
    return tuple(
        Step(
            index=row["step_index"],
            elapsed_ms=row["elapsed_ms"],
            drafted=tuple(drafted[row["step_index"]]),
            emitted=tuple(
                map(_emitted, row["emitted"], row["channels"] or repeat(Channel.ANSWER.value))
            ),
            draft_ms=row["draft_ms"],
            verify_ms=row["verify_ms"],
            wall_ms=row["wall_ms"],
            spans=tuple(_span(span) for span in row["spans"] or ()),
            skipped_layers=None if row["skipped_layers"] is None else tuple(row["skipped_layers"]),
            matched_tokens=row["matched_tokens"],
            allowed=Allowed(**row["allowed"]) if row["allowed"] else None,
        )
        for row in sorted(rows_of(cursor), key=itemgetter("step_index"))
    )


def _drafted(
    cursor: DuckDBPyConnection, request_id: str, started_at: datetime
) -> Mapping[int, Sequence[TokenDecision]]:
    cursor.execute(
        "SELECT * EXCLUDE (started_at, request_id) FROM decisions "
        "WHERE started_at = ? AND request_id = ?",
        [started_at, request_id],
    )
    drafted: defaultdict[int, list[TokenDecision]] = defaultdict(list)
    for row in sorted(rows_of(cursor), key=itemgetter("draft_index")):
        del row["draft_index"]
        drafted[row.pop("step_index")].append(_decision(row))
    return drafted


def _decision(row: dict[str, Any]) -> TokenDecision:
    top = tuple(TopToken(**token) for token in row.pop("target_top"))
    return TokenDecision(verdict=_VERDICTS[row.pop("verdict")], target_top=top, **row)


def _emitted(token: dict[str, Any], channel: str) -> EmittedToken:
    return EmittedToken(
        **{**token, "origin": _ORIGINS[token["origin"]], "channel": _CHANNELS[channel]}
    )


def _span(span: dict[str, Any]) -> Span:
    return Span(**{**span, "lane": Lane(span["lane"])})


def _extra_bytes(row: Mapping[str, Any]) -> ExtraBytes | None:
    parts = [row[f"extra_{name}_bytes"] for name in ("weights", "kv_cache", "buffers")]
    return None if None in parts else ExtraBytes(*parts)


def read_baseline_servers(cursor: DuckDBPyConnection, model: str) -> list[str]:
    """URLs of servers that answered with `model` without speculation, the latest first."""
    cursor.execute(
        "SELECT server_url FROM runs WHERE method = 'baseline' AND server_url IS NOT NULL "
        "AND model = ? AND deleted_at IS NULL GROUP BY server_url ORDER BY max(started_at) DESC",
        [model],
    )
    return [url for (url,) in cursor.fetchall()]


def _run(row: Mapping[str, Any]) -> Run:
    sampling = Sampling(
        row["temperature"],
        row["top_p"],
        row["max_tokens"],
        row["seed"],
        row["top_k"] or 0,
        row["spec_k"],
    )
    config = RunConfig(
        engine=EngineKind(row["engine"]),
        method=Method(row["method"]) if row["method"] else None,
        k=row["k"],
        sampling=sampling,
        model=row["model"],
        draft=row["draft"],
        server_url=row["server_url"],
        server_version=row["server_version"],
        traced=row["traced"],
        concurrency=row["concurrency"],
        request_rate=row["request_rate"],
        traffic=row["traffic"],
        prompt_set=row["prompt_set"],
        hardware=row["hardware"],
        git_revision=row["git_revision"],
        options=json.loads(row["options"]),
    )
    return Run(
        run_id=row["run_id"],
        group_id=row["group_id"],
        config=config,
        status=RunStatus(row["status"]),
        started_at=_from_utc(row["started_at"]),
        finished_at=_from_utc(row["finished_at"]) if row["finished_at"] else None,
        error=row["error"],
    )


def request_of(row: Mapping[str, Any]) -> RequestRow:
    return RequestRow(
        request_id=row["request_id"],
        run_id=row["run_id"],
        prompt=Prompt(row["prompt"], row["prompt_id"], row["category"], row["prompt_max_tokens"]),
        status=RunStatus(row["status"]),
        error=row["error"],
        fidelity=Fidelity(row["fidelity"]) if row["fidelity"] else None,
        finish_reason=row["finish_reason"],
        started_at=_from_utc(row["started_at"]),
        ttft_ms=row["ttft_ms"],
        e2el_ms=row["e2el_ms"],
        output_text=row["output_text"],
        side_text=row["side_text"],
        metrics=_metrics(row) if row["num_steps"] is not None else None,
        extra_bytes=_extra_bytes(row),
    )


def _metrics(row: Mapping[str, Any]) -> Metrics:
    values = {field.name: row[field.name] for field in fields(Metrics)}
    values["acceptance_rate_per_pos"] = tuple(values["acceptance_rate_per_pos"] or ())
    return Metrics(**values)


def _from_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC)

"""The statements that change the tables of runs, within the caller's transaction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from duckdb import DuckDBPyConnection

from specviz import __version__
from specviz.analysis.metrics import Metrics, summarise
from specviz.config import Prompt, Run, RunStatus
from specviz.errors import StoreError
from specviz.store.runs.arrow import Row, decision_table, step_table
from specviz.trace import Event, RequestStarted, SpecTotals, Step, StepsRevised, Trace, whole


def insert_run(cursor: DuckDBPyConnection, run: Run) -> None:
    """Raises StoreError if the run is there already."""
    if has_run(cursor, run.run_id):
        raise StoreError(f"Run {run.run_id} is in the database already.")
    config, sampling = run.config, run.config.sampling
    row = {
        "run_id": run.run_id,
        "group_id": run.group_id,
        "status": run.status.value,
        "started_at": to_utc(run.started_at),
        "finished_at": run.finished_at and to_utc(run.finished_at),
        "error": run.error,
        "engine": config.engine.value,
        "method": config.method and config.method.value,
        "k": config.k,
        "model": config.model,
        "draft": config.draft,
        "server_url": config.server_url,
        "server_version": config.server_version,
        "traced": config.traced,
        **asdict(sampling),
        "concurrency": config.concurrency,
        "request_rate": config.request_rate,
        "traffic": config.traffic,
        "prompt_set": config.prompt_set,
        "hardware": config.hardware,
        "git_revision": config.git_revision,
        "options": json.dumps(config.options),
        "specviz_version": __version__,
    }
    insert(cursor, "runs", row)


def has_run(cursor: DuckDBPyConnection, run_id: str) -> bool:
    found = cursor.execute("SELECT 1 FROM runs WHERE run_id = ?", [run_id]).fetchone()
    return found is not None


def end_run(
    cursor: DuckDBPyConnection, run_id: str, status: RunStatus, at: datetime, error: str | None
) -> None:
    """Raises StoreError if there is no such run."""
    if not has_run(cursor, run_id):
        raise StoreError(f"There is no run {run_id} in the database.")
    row = {"status": status.value, "finished_at": to_utc(at), "error": error}
    update(cursor, "runs", row, "run_id", run_id)


def insert_request(
    cursor: DuckDBPyConnection, request_id: str, run_id: str, prompt: Prompt, started_at: datetime
) -> None:
    insert(cursor, "requests", request_row(request_id, run_id, prompt, started_at))


def request_row(request_id: str, run_id: str, prompt: Prompt, started_at: datetime) -> Row:
    """A request that was sent and has not started."""
    return {
        "request_id": request_id,
        "run_id": run_id,
        "status": RunStatus.RUNNING.value,
        "started_at": to_utc(started_at),
        "prompt_id": prompt.prompt_id,
        "category": prompt.category,
        "prompt": whole(prompt.text),
        "prompt_max_tokens": prompt.max_tokens,
    }


def write_events(
    cursor: DuckDBPyConnection, request_id: str, started_at: datetime, events: Sequence[Event]
) -> str:
    """Write what the events add to a request; return its id, which RequestStarted may change.

    The times and reason in RequestFinished are left to `end_request`. Raises StoreError if the
    engine gave the request an id that is taken.
    """
    steps: list[Step] = []
    for event in events:
        if isinstance(event, RequestStarted):
            _rename(cursor, request_id, event)
            request_id = event.request_id
        elif isinstance(event, StepsRevised):
            cursor.execute("DELETE FROM steps WHERE request_id = ?", [request_id])
            cursor.execute("DELETE FROM decisions WHERE request_id = ?", [request_id])
            row = {"fidelity": event.fidelity.value}
            update(cursor, "requests", row, "request_id", request_id)
            steps = list(event.steps)
        elif isinstance(event, Step):
            steps.append(event)
    if steps:
        sent_at = to_utc(started_at)
        insert_arrow(cursor, "steps", step_table(request_id, sent_at, steps))
        insert_arrow(cursor, "decisions", decision_table(request_id, sent_at, steps))
    return request_id


def end_request(
    cursor: DuckDBPyConnection,
    request_id: str,
    trace: Trace | None,
    status: RunStatus,
    error: str | None,
) -> None:
    """Write how a request ended, with the figures of its trace (None: it never started)."""
    update(cursor, "requests", end_row(trace, status, error), "request_id", request_id)


def end_row(trace: Trace | None, status: RunStatus, error: str | None) -> Row:
    """What the end of a request adds to its row."""
    row: Row = {"status": status.value, "error": error}
    if trace is not None:
        row |= {
            "prompt_token_ids": list(trace.prompt_token_ids),
            "finish_reason": trace.finish_reason,
            "output_text": whole(trace.text),
            "side_text": whole(trace.side_text) or None,
            **_extra_bytes(trace),
            **_figures(trace, summarise(trace)),
        }
    return row


def check_types(trace: Trace) -> None:
    """Raise ValueError or TypeError for a value that the tables cannot hold."""
    step_table(trace.request_id, datetime.min, trace.steps)
    decision_table(trace.request_id, datetime.min, trace.steps)
    pa.array([trace.ttft_ms, trace.e2el_ms], pa.float64())
    pa.array(trace.prompt_token_ids, pa.int32())
    pa.array([trace.finish_reason], pa.string())
    pa.array(list(_extra_bytes(trace).values()), pa.int64())
    totals = trace.totals or SpecTotals()
    counts = (totals.num_draft_tokens, totals.num_accepted_tokens, totals.num_drafts)
    pa.array(counts, pa.int32())
    pa.array([totals.tokens_per_step], pa.float64())


def to_utc(moment: datetime) -> datetime:
    """UTC without zone, as the tables keep it. Raises ValueError for a time without a zone."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone")
    return moment.astimezone(UTC).replace(tzinfo=None)


def _extra_bytes(trace: Trace) -> Row:
    extra = trace.extra_bytes
    return {
        "extra_weights_bytes": extra and extra.weights,
        "extra_kv_cache_bytes": extra and extra.kv_cache,
        "extra_buffers_bytes": extra and extra.buffers,
    }


def _figures(trace: Trace, metrics: Metrics) -> Row:
    """The columns named like the metrics; the times are the engine's own once it has finished."""
    row = metrics.to_dict()
    if trace.finish_reason is not None:
        row |= {"ttft_ms": trace.ttft_ms, "e2el_ms": trace.e2el_ms}
    return row


def check_new(cursor: DuckDBPyConnection, request_ids: Sequence[str]) -> None:
    """Raises StoreError if an id is taken, or twice among these."""
    cursor.execute(
        "SELECT request_id FROM requests WHERE request_id IN (SELECT unnest(?))",
        [[_checked(one) for one in request_ids]],
    )
    taken = [str(one) for (one,) in cursor.fetchall()]
    taken += [one for one, count in Counter(request_ids).items() if count > 1]
    if taken:
        raise StoreError(
            f"Request {taken[0]} is in the database already: "
            "the engine gave the same id to two requests."
        )


def _rename(cursor: DuckDBPyConnection, request_id: str, started: RequestStarted) -> None:
    check_new(cursor, [started.request_id])
    row = {"request_id": started.request_id, "fidelity": started.fidelity.value}
    update(cursor, "requests", row, "request_id", request_id)


def insert(cursor: DuckDBPyConnection, table: str, row: Row) -> None:
    marks = ", ".join("?" * len(row))
    cursor.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", _values(row))


def update(cursor: DuckDBPyConnection, table: str, row: Row, key: str, value: str) -> None:
    columns = ", ".join(f"{column} = ?" for column in row)
    cursor.execute(f"UPDATE {table} SET {columns} WHERE {key} = ?", [*_values(row), value])


def _values(row: Row) -> list[Any]:
    """Raises UnicodeError for half a surrogate pair, which DuckDB reports as a RuntimeError."""
    return [_checked(value) for value in row.values()]


def _checked(value: Any) -> Any:
    if isinstance(value, str):
        value.encode()
    return value


def insert_arrow(cursor: DuckDBPyConnection, table: str, rows: pa.Table) -> None:
    if rows.num_rows == 0:
        return
    cursor.register("arrived", rows)
    cursor.execute(f"INSERT INTO {table} BY NAME SELECT * FROM arrived")
    cursor.unregister("arrived")

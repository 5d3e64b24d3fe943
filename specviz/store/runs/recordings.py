"""Writes a run that another process recorded, with few statements: on a lake each makes a file."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import pyarrow as pa
from duckdb import DuckDBPyConnection

from specviz.config import Run
from specviz.store.runs import tables
from specviz.store.runs.arrow import decision_table, step_table
from specviz.store.runs.run_json import RecordedRequest
from specviz.trace import fold


def insert_recording(
    cursor: DuckDBPyConnection, run: Run, requests: Sequence[RecordedRequest]
) -> None:
    """Raises StoreError if the run, or the id that an engine gave a request, is there already."""
    tables.insert_run(cursor, run)
    traces = [fold(request.events) if request.events else None for request in requests]
    ids = [uuid.uuid4().hex if trace is None else trace.request_id for trace in traces]
    tables.check_new(cursor, ids)
    rows = [
        {
            **tables.request_row(request_id, run.run_id, request.prompt, request.started_at),
            "fidelity": trace and trace.fidelity.value,
            **tables.end_row(trace, request.status, request.error),
        }
        for request_id, request, trace in zip(ids, requests, traces, strict=True)
    ]
    if not rows:
        return
    schema = cursor.execute("SELECT * FROM requests LIMIT 0").to_arrow_table().schema
    tables.insert_arrow(cursor, "requests", pa.Table.from_pylist(rows, schema))
    for table, made in (("steps", step_table), ("decisions", decision_table)):
        parts = [
            made(trace.request_id, tables.to_utc(request.started_at), trace.steps)
            for request, trace in zip(requests, traces, strict=True)
            if trace is not None
        ]
        if parts:
            tables.insert_arrow(cursor, table, pa.concat_tables(parts))

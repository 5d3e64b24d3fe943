"""Timed requests as Arrow tables: what a benchmark adds to `requests` and `samples`."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

import pyarrow as pa
from duckdb import DuckDBPyConnection

from specviz.analysis.metrics import Metrics
from specviz.analysis.sample_metrics import metrics_of
from specviz.config import RunStatus
from specviz.sample import LaneTimes
from specviz.store.benchmarks.rows import SampleRow
from specviz.store.file.database import as_store_error
from specviz.store.runs.tables import insert_arrow, to_utc

_FIGURES = pa.schema(
    [
        ("num_steps", pa.int32()),
        ("num_drafts", pa.int32()),
        ("num_draft_tokens", pa.int32()),
        ("num_accepted_tokens", pa.int32()),
        ("draft_acceptance_rate", pa.float64()),
        ("mean_acceptance_length", pa.float64()),
        ("alpha", pa.float64()),
        ("acceptance_rate_per_pos", pa.list_(pa.float64())),
        ("tokens_per_step", pa.float64()),
        ("output_tokens", pa.int32()),
        ("output_throughput", pa.float64()),
        ("ttft_ms", pa.float64()),
        ("tpot_ms", pa.float64()),
        ("e2el_ms", pa.float64()),
        ("ttfo_ms", pa.float64()),
    ]
)
REQUESTS = pa.schema(
    [
        ("request_id", pa.string()),
        ("run_id", pa.string()),
        ("status", pa.string()),
        ("error", pa.string()),
        ("started_at", pa.timestamp("us")),
        ("prompt_id", pa.string()),
        ("category", pa.string()),
        ("prompt", pa.string()),
        ("prompt_max_tokens", pa.int32()),
        ("fidelity", pa.string()),
        ("finish_reason", pa.string()),
        ("output_text", pa.string()),
        ("side_text", pa.string()),
        *_FIGURES,
    ]
)
SAMPLES = pa.schema(
    [
        ("request_id", pa.string()),
        ("benchmark_id", pa.string()),
        ("run_id", pa.string()),
        ("round_id", pa.string()),
        ("prompt_index", pa.int32()),
        ("turn", pa.int32()),
        ("block", pa.string()),
        ("sent_ms", pa.float64()),
        ("queue_ms", pa.float64()),
        ("prompt_tokens", pa.int32()),
        ("token_ids", pa.list_(pa.int32())),
        ("chunk_ms", pa.list_(pa.float32())),
        ("chunk_tokens", pa.list_(pa.int16())),
        ("per_step_accepted", pa.list_(pa.int16())),
        ("per_step_drafted", pa.list_(pa.int16())),
        ("is_chain", pa.bool_()),
        ("num_judged_tokens", pa.int32()),
        *((field.name, pa.float64()) for field in fields(LaneTimes)),
        ("phase", pa.int16()),
        ("request_temperature", pa.float64()),
    ]
)
_METRICS = tuple(field.name for field in fields(Metrics))

Row = dict[str, Any]


def insert_samples(
    cursor: DuckDBPyConnection, benchmark_id: str, rows: Sequence[SampleRow]
) -> None:
    """Write requests with their figures, finished or failed, in one statement per table."""
    ids = [row.sample.request_id if row.sample else uuid.uuid4().hex for row in rows]
    requests = [_request(key, row) for key, row in zip(ids, rows, strict=True)]
    samples = [_sample(key, benchmark_id, row) for key, row in zip(ids, rows, strict=True)]
    insert_arrow(cursor, "requests", pa.Table.from_pylist(requests, schema=REQUESTS))
    insert_arrow(cursor, "samples", pa.Table.from_pylist(samples, schema=SAMPLES))


def check_texts(row: SampleRow) -> None:
    """Raise StoreError for half a surrogate pair, which no table can hold."""
    sample = row.sample
    answer = (sample.text, sample.side_text, sample.finish_reason) if sample else ()
    with as_store_error("The request could not be saved"):
        for text in (row.prompt.text, row.error or "", *answer):
            text.encode()


def _request(request_id: str, row: SampleRow) -> Row:
    sample, prompt = row.sample, row.prompt
    values: Row = {
        "request_id": request_id,
        "run_id": row.run_id,
        "status": _status(row).value,
        "error": row.set_aside if row.error is None else row.error,
        "started_at": to_utc(row.started_at),
        "prompt_id": prompt.prompt_id,
        "category": prompt.category,
        "prompt": prompt.text,
        "prompt_max_tokens": prompt.max_tokens,
    }
    if sample is not None:
        metrics = metrics_of(sample)
        values |= {
            "fidelity": sample.fidelity.value,
            "finish_reason": sample.finish_reason,
            "output_text": sample.text,
            "side_text": sample.side_text or None,
            **{name: getattr(metrics, name) for name in _METRICS},
        }
    return values


def _status(row: SampleRow) -> RunStatus:
    if row.sample is None:
        return RunStatus.FAILED
    return RunStatus.SET_ASIDE if row.set_aside else RunStatus.FINISHED


def _sample(request_id: str, benchmark_id: str, row: SampleRow) -> Row:
    values: Row = {
        "request_id": request_id,
        "benchmark_id": benchmark_id,
        "run_id": row.run_id,
        "round_id": row.round_id,
        "prompt_index": row.prompt_index,
        "turn": row.turn,
        "block": row.block,
        "sent_ms": row.sent_ms,
        "queue_ms": row.queue_ms,
        "phase": row.phase,
        "request_temperature": row.temperature,
    }
    if (sample := row.sample) is not None:
        values |= {
            "prompt_tokens": sample.prompt_tokens,
            "token_ids": sample.token_ids or None,
            "chunk_ms": sample.chunk_ms,
            "chunk_tokens": sample.chunk_tokens,
            "per_step_accepted": sample.per_step_accepted,
            "per_step_drafted": sample.per_step_drafted,
            "is_chain": sample.is_chain,
            "num_judged_tokens": sample.num_judged_tokens,
            **(asdict(sample.lanes) if sample.lanes else {}),
        }
    return values

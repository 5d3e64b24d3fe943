"""`sglang.bench_serving --output-file`: one result per line, `--output-details` with its requests.

Written by python/sglang/bench_serving.py (`benchmark`, read in 0.5), which began as vLLM's script:
the details are vLLM's without `start_times`. It also measures other servers, as `backend` says.
`accept_length` is the server's `avg_spec_accept_length`, tokens per verification step with the
target's own token, of every request since the server started. In versions of 2024 some totals are
missing.
https://github.com/sgl-project/sglang
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specviz.store.exchange.results.measured import (
    Json,
    JsonFormat,
    Measured,
    Reading,
    as_text,
    number,
    whole,
)
from specviz.store.exchange.results.vllm_bench import measured_of, notes_of

NEEDED = {"backend", "completed", "duration", "total_output_tokens_retokenized"}
FIGURES = {"ttft": "ttft", "tpot": "tpot", "e2el": "e2e_latency"}
STATISTICS = {"mean": "mean", "p50": "median", "p95": "p95", "p99": "p99"}
"""Our metric or statistic, and its name there."""


def _recognises(documents: Sequence[Any]) -> bool:
    return bool(documents) and isinstance(documents[0], dict) and set(documents[0]) >= NEEDED


def _read_all(documents: Sequence[Any]) -> Reading:
    """One row per line."""
    measured = [_read(document) for document in documents]
    notes = notes_of(documents, measured)
    if any(one.row["mean_acceptance_length"] is not None for one in measured):
        notes += (
            "The acceptance length is the server's average since it started, with requests of "
            "anybody else.",
        )
    return measured, notes


def _read(document: Any) -> Measured:
    if not isinstance(document, dict) or not set(document) >= NEEDED:
        raise ValueError(f"there is no {', '.join(sorted(NEEDED))}")
    server = document.get("server_info")
    server = server if isinstance(server, dict) else {}
    # A server's arguments, its keys among them, are not for a database that others read.
    own = {key: value for key, value in server.items() if not key.endswith("api_key")}
    return measured_of({**document, "server_info": own or None}, _row(document, own))


def _row(document: Json, server: Json) -> Json:
    completed = whole(document["completed"])
    rate, limit = document.get("request_rate"), document.get("max_concurrency")
    drafted = server.get("speculative_num_draft_tokens")
    row: Json = {
        "name": str(document.get("tag") or f"SGLang bench {document.get('dataset_name') or ''}"),
        "model": as_text(server.get("model_path")),
        "server": as_text(document["backend"]),
        "dataset": as_text(document.get("dataset_name")),
        "concurrency": None if limit is None else whole(limit),
        "request_rate": None if isinstance(rate, str) else number(rate),
        "num_requests": completed,
        "duration_s": number(document["duration"]),
        "prompt_tokens": whole(document["total_input_tokens"]),
        "output_tokens": whole(document["total_output_tokens"]),
        "request_throughput": number(document.get("request_throughput")),
        "output_throughput": number(document.get("output_throughput")),
        "mean_acceptance_length": number(document.get("accept_length")),
        # Its draft tokens count the one that the draft starts from.
        "k": whole(drafted) - 1 if drafted else None,
    }
    figures = document if completed else {}
    for metric, theirs in FIGURES.items():
        for statistic, name in STATISTICS.items():
            row[f"{metric}_{statistic}_ms"] = number(figures.get(f"{name}_{theirs}_ms"))
    return row


SGLANG_BENCH = JsonFormat("sglang.bench_serving", _recognises, _read_all)

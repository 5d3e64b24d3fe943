"""Results of `vllm bench serve --save-result`, with `--save-detailed` or without, and of sweeps.

Written by vllm/benchmarks/serve.py (`main_async`, read in 0.32.0): times of requests in seconds,
figures in ms, the acceptance rate in percent. Without `--save-detailed` the file has the latencies
of the requests, but not their first tokens and gaps; with it, `start_times` since 2026 only. Some
versions of 2025 have `endpoint_type` instead of `backend`. The `summary.json` of `vllm bench sweep`
is a list of such results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from specviz.store.exchange.results.measured import (
    Json,
    JsonFormat,
    Measured,
    Reading,
    as_text,
    number,
    share,
    whole,
)

NEEDED = {"model_id", "num_prompts", "completed", "duration"}
DETAILS = ("input_lens", "output_lens", "ttfts", "itls", "start_times", "generated_texts", "errors")
LISTS = (*DETAILS, "latencies", "queue_times")
PERCENTILES = (95, 99)


def _recognises(documents: Sequence[Any]) -> bool:
    results = _results(documents)
    return bool(results) and isinstance(results[0], dict) and set(results[0]) >= NEEDED


def _results(documents: Sequence[Any]) -> list[Any]:
    """One after another; those of a sweep's summary are in a list."""
    lists = (document if isinstance(document, list) else [document] for document in documents)
    return [result for each in lists for result in each]


def _read_all(documents: Sequence[Any]) -> Reading:
    """One row per result."""
    results = _results(documents)
    measured = [_read(result) for result in results]
    return measured, notes_of(results, measured)


def notes_of(results: Sequence[Json], measured: Sequence[Measured]) -> tuple[str, ...]:
    """Notes on what was computed here, and on what the single requests lack."""
    lacking = [
        name
        for name in DETAILS
        if any(
            one.requests and name not in result
            for one, result in zip(measured, results, strict=True)
        )
    ]
    computed = sorted({name for one in measured for name in one.computed})
    notes = []
    if computed:
        notes.append(f"Computed here from the single requests: {', '.join(computed)}.")
    if lacking:
        notes.append(f"The file does not say of its single requests: {', '.join(lacking)}.")
    return tuple(notes)


def _read(document: Any) -> Measured:
    if not isinstance(document, dict) or not set(document) >= NEEDED:
        raise ValueError(f"there is no {', '.join(sorted(NEEDED))}")
    if "output_throughput" not in document:
        raise ValueError("pooling and embedding results have no output tokens")
    return measured_of(document, _figures(document))


def measured_of(document: Json, row: Json) -> Measured:
    """The row with its single requests, and figures that it lacks computed from them."""
    requests = _requests(document)
    computed = _fill(row, document, requests) if row["num_requests"] else []
    kept = {key: value for key, value in document.items() if not requests or key not in LISTS}
    return Measured(row, kept, tuple(requests), tuple(computed))


def _figures(document: Json) -> Json:
    completed = whole(document["completed"])
    rates = document.get("spec_decode_per_position_acceptance_rates")
    percent = number(document.get("spec_decode_acceptance_rate"))
    failed = document.get("failed")
    backend = document["backend"] if "backend" in document else document["endpoint_type"]
    row = {
        "name": str(document.get("label") or f"{backend} {document.get('date', '')}"),
        "model": as_text(document.get("model_id")),
        "server": as_text(backend),
        "concurrency": _limit(document.get("max_concurrency")),
        "request_rate": _rate(document.get("request_rate")),
        "num_requests": completed,
        "num_failed": None if failed is None else whole(failed),
        "duration_s": number(document["duration"]),
        "prompt_tokens": whole(document["total_input_tokens"]),
        "output_tokens": whole(document["total_output_tokens"]),
        "request_throughput": number(document["request_throughput"]),
        "output_throughput": number(document["output_throughput"]),
        "num_drafts": _limit(document.get("spec_decode_num_drafts")),
        "num_draft_tokens": _limit(document.get("spec_decode_draft_tokens")),
        "num_accepted_tokens": _limit(document.get("spec_decode_accepted_tokens")),
        "draft_acceptance_rate": None if percent is None else share(percent / 100),
        "mean_acceptance_length": number(document.get("spec_decode_acceptance_length")),
        "acceptance_rate_per_pos": None if rates is None else [share(rate) for rate in rates],
        "k": len(rates) if rates else None,
    }
    # Without a finished request vLLM writes zeros.
    figures = document if completed else {}
    for metric in ("ttft", "tpot", "e2el"):
        row[f"{metric}_mean_ms"] = number(figures.get(f"mean_{metric}_ms"))
        row[f"{metric}_p50_ms"] = number(figures.get(f"median_{metric}_ms"))
        for percentile in PERCENTILES:
            row[f"{metric}_p{percentile}_ms"] = number(figures.get(f"p{percentile}_{metric}_ms"))
    return row


def _requests(document: Json) -> list[Json]:
    """Single requests, with what the file says of them; empty for a file of totals."""
    lists = {name: document[name] for name in DETAILS if name in document}
    if not lists:
        return []
    if "latencies" in document:
        lists["latencies"] = document["latencies"]
    count = len(next(iter(lists.values())))
    columns = [lists.get(name, [None] * count) for name in (*DETAILS, "latencies")]
    starts = [number(start) for start in lists.get("start_times", ())]
    first = min((start for start in starts if start), default=0.0)
    return [_request(first, *values) for values in zip(*columns, strict=True)]


def _request(
    first: float,
    prompt_tokens: Any,
    output_tokens: Any,
    ttft: Any,
    gaps: Any,
    start: Any,
    text: Any,
    error: Any,
    latency: Any,
) -> Json:
    """A failed request has only what its client last saw, so its times are dropped; vLLM writes a
    first token after 0 s where none came."""
    failed = bool(error)
    ttft, latency = (None if failed else number(value) for value in (ttft, latency))
    tokens = _limit(output_tokens)
    if latency is None and ttft and gaps is not None and not failed:
        latency = ttft + sum(number(gap) or 0.0 for gap in gaps)
    has_first = bool(ttft)
    decoding = None
    if has_first and latency is not None and ttft is not None and tokens and tokens > 1:
        decoding = 1000 * (latency - ttft) / (tokens - 1)
    return {
        "started_s": sent - first if (sent := number(start)) else None,
        "prompt_tokens": _limit(prompt_tokens),
        "output_tokens": tokens,
        "ttft_ms": 1000 * ttft if has_first and ttft is not None else None,
        "tpot_ms": decoding,
        "e2el_ms": None if latency is None else 1000 * latency,
        "gaps_ms": None if gaps is None else [1000 * (number(gap) or 0.0) for gap in gaps],
        "output_text": as_text(text),
        "error": as_text(error) or None,
    }


def _fill(row: Json, document: Json, requests: Sequence[Json]) -> list[str]:
    """Compute figures that the file lacks from its requests, as vLLM does; returns their names."""
    values = {
        f"{metric}": [one[f"{metric}_ms"] for one in requests if one[f"{metric}_ms"] is not None]
        for metric in ("ttft", "tpot", "e2el")
    }
    latencies = document.get("latencies")
    if not requests and latencies and not document.get("failed"):
        values["e2el"] = [1000 * (number(latency) or 0.0) for latency in latencies]
    computed = []
    for metric, known in values.items():
        if not known:
            continue
        with np.errstate(over="ignore", invalid="ignore"):  # infinite ones are dropped later
            figures = {"mean": np.mean(known), "p50": np.median(known)}
            figures |= {f"p{p}": np.percentile(known, p) for p in PERCENTILES}
        for name, figure in figures.items():
            if row[f"{metric}_{name}_ms"] is None:
                row[f"{metric}_{name}_ms"] = float(figure)
                computed.append(f"{metric}_{name}_ms")
    return computed


def _limit(value: Any) -> int | None:
    return None if value is None else whole(value)


def _rate(value: Any) -> float | None:
    """`inf` is as fast as possible."""
    return None if value in (None, "inf") else number(value)


VLLM_BENCH = JsonFormat("vllm bench serve", _recognises, _read_all)

"""GuideLLM's `benchmarks.json`: one row per benchmark, that is per strategy or rate.

Written by guidellm/benchmark/schemas/report.py: report schema 2 as of 0.8.1, with what was
requested under `config.spec`, and schema 1 before it, under `args` and at first without `metadata`;
the benchmarks are the same in both. What specviz calls TPOT, the time per output token after the
first, is GuideLLM's `inter_token_latency_ms`; its `time_per_output_token_ms` includes the first
token. Both are weighted by tokens: a long answer counts more. It writes 0 where nothing was
measured.
https://github.com/vllm-project/guidellm
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
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

SCHEMAS = (1, 2)
STREAMS = ("streams", "max_concurrency")
FIGURES = {
    "ttft": ("time_to_first_token_ms", 1.0),
    "tpot": ("inter_token_latency_ms", 1.0),
    "e2el": ("request_latency", 1000.0),
}
"""Our metric, GuideLLM's, and the factor to ms."""


def _recognises(documents: Sequence[Any]) -> bool:
    return len(documents) == 1 and isinstance(documents[0], dict) and "benchmarks" in documents[0]


def _read_report(documents: Sequence[Any]) -> Reading:
    """One row per benchmark."""
    (report,) = documents
    version = (report.get("metadata") or {}).get("version", SCHEMAS[0])
    if version not in SCHEMAS:
        raise ValueError(f"its report schema is {str(version)[:20]}, known are 1 and 2")
    benchmarks = report["benchmarks"]
    if not isinstance(benchmarks, list) or not benchmarks:
        raise ValueError("it holds no benchmark")
    context = {key: value for key, value in report.items() if key != "benchmarks"}
    measured = [_read(benchmark, context) for benchmark in benchmarks]
    return measured, (
        "TPOT is GuideLLM's inter-token latency, weighted by tokens; its time per output token "
        "includes the first one.",
    )


def _read(benchmark: Json, context: Json) -> Measured:
    metrics = benchmark["metrics"]
    totals = metrics["request_totals"]
    config = benchmark.get("config") or benchmark.get("benchmark") or {}
    strategy = config.get("strategy") or benchmark["args"]["strategy"]
    args = _dict(context.get("args")) or _dict(_dict(context.get("config")).get("spec"))
    backend = {**args, **_dict(args.get("backend")), **_dict(config.get("backend"))}
    row: Json = {
        "name": " ".join(filter(None, ["guidellm", str(strategy["type_"]), _load(strategy)])),
        "started_at": _moment(benchmark.get("start_time")),
        "model": as_text(backend.get("model")),
        "server": as_text(backend.get("target")),
        "dataset": _data(args.get("data")),
        "concurrency": _streams(strategy),
        "request_rate": number(strategy.get("rate")),
        "num_requests": whole(totals["successful"]),
        "num_failed": whole(totals["errored"]),
        "duration_s": number(benchmark.get("duration")),
        "prompt_tokens": _sum(metrics["prompt_token_count"]),
        "output_tokens": _sum(metrics["output_token_count"]),
        "request_throughput": _mean(metrics["requests_per_second"]),
        "output_throughput": _mean(metrics["output_tokens_per_second"]),
    }
    for metric, (theirs, factor) in FIGURES.items():
        row |= _distribution(metric, metrics[theirs], factor)
    requests = _requests(benchmark.get("requests"))
    kept = {key: value for key, value in benchmark.items() if key != "requests"}
    return Measured(row, {**context, "benchmark": kept}, tuple(requests))


def _distribution(metric: str, summary: Json, factor: float) -> Json:
    successful = _measured(summary)
    columns = [f"{metric}_{name}_ms" for name in ("mean", "p50", "p95", "p99")]
    if successful is None:
        return dict.fromkeys(columns)
    percentiles = successful["percentiles"]
    values = (successful["mean"], *(percentiles[name] for name in ("p50", "p95", "p99")))
    return {
        column: None if (figure := number(value)) is None else figure * factor
        for column, value in zip(columns, values, strict=True)
    }


def _measured(summary: Json) -> Json | None:
    """Of finished requests; GuideLLM writes zeros where none streamed or finished."""
    found = summary.get("successful")
    return found if isinstance(found, dict) and found["count"] and found["max"] else None


def _sum(summary: Json) -> int | None:
    found = _measured(summary)
    return None if found is None else round(number(found["total_sum"]) or 0)


def _mean(summary: Json) -> float | None:
    found = _measured(summary)
    return None if found is None else number(found["mean"])


def _requests(groups: Any) -> list[Json]:
    """Finished and failed requests, in the order they were sent; a report may hold a sample."""
    if not isinstance(groups, dict):
        return []
    sent = [*(groups.get("successful") or []), *(groups.get("errored") or [])]
    started = [number(one.get("request_start_time")) for one in sent]
    first = min((moment for moment in started if moment is not None), default=0.0)
    rows = [_request(one, start, first) for one, start in zip(sent, started, strict=True)]
    return sorted(rows, key=lambda row: row["started_s"] or 0.0)


def _request(one: Json, start: float | None, first: float) -> Json:
    latency = number(one.get("request_latency"))
    tokens = [one.get("prompt_tokens"), one.get("output_tokens")]
    info = _dict(one.get("info") or one.get("scheduler_info"))
    return {
        "started_s": None if start is None else start - first,
        "prompt_tokens": None if tokens[0] is None else whole(tokens[0]),
        "output_tokens": None if tokens[1] is None else whole(tokens[1]),
        "ttft_ms": number(one.get("time_to_first_token_ms")),
        "tpot_ms": number(one.get("inter_token_latency_ms")),
        "e2el_ms": None if latency is None else 1000 * latency,
        "output_text": as_text(one.get("output")),
        "error": as_text(info.get("error")),
    }


def _load(strategy: Json) -> str:
    if (streams := _streams(strategy)) is not None:
        return f"{streams} streams"
    rate = number(strategy.get("rate"))
    return "" if rate is None else f"{rate:g} req/s"


def _streams(strategy: Json) -> int | None:
    if strategy["type_"] == "synchronous":
        return 1
    found = next((strategy[name] for name in STREAMS if strategy.get(name) is not None), None)
    return None if found is None else whole(found)


def _moment(seconds: Any) -> datetime | None:
    since_1970 = number(seconds)
    return (
        None if since_1970 is None else datetime.fromtimestamp(since_1970, UTC).replace(tzinfo=None)
    )


def _data(value: Any) -> str | None:
    if isinstance(value, list):
        return ", ".join(one if isinstance(one, str) else json.dumps(one) for one in value)
    return as_text(value)


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


GUIDELLM = JsonFormat("guidellm", _recognises, _read_report)

"""A GuideLLM report, written field by field as its report schema 1 has them."""

from __future__ import annotations

from typing import Any

import numpy as np


def summary(values: list[float]) -> dict[str, Any]:
    reported = {"successful": None}
    quantiles = {f"p{p}": float(np.percentile(values, p)) for p in (50, 95, 99)}
    reported["successful"] = {
        "mean": float(np.mean(values)), "median": float(np.median(values)), "max": max(values),
        "count": len(values), "total_sum": float(sum(values)), "percentiles": quantiles,
    }  # fmt: skip
    return reported


def report(**changes: Any) -> dict[str, Any]:
    """A GuideLLM report of one benchmark of two requests, in its units."""
    metrics = {
        "request_totals": {"successful": 2, "errored": 1, "incomplete": 0, "total": 3},
        "requests_per_second": summary([2.0]),
        "request_latency": summary([0.5, 1.5]),
        "prompt_token_count": summary([10.0, 20.0]),
        "output_token_count": summary([30.0, 40.0]),
        "time_to_first_token_ms": summary([50.0, 70.0]),
        "time_per_output_token_ms": summary([16.0, 18.0]),
        "inter_token_latency_ms": summary([11.0, 13.0]),
        "output_tokens_per_second": summary([80.0]),
    }
    request = {
        "request_start_time": 1_760_000_001.0, "request_latency": 0.5, "prompt_tokens": 10,
        "output_tokens": 30, "time_to_first_token_ms": 50.0, "inter_token_latency_ms": 11.0,
        "output": "text", "info": {"error": None},
    }  # fmt: skip
    failed = {"request_start_time": 1_760_000_000.0, "info": {"error": "refused"}}
    benchmark = {
        "type_": "generative_benchmark", "start_time": 1_760_000_000.0, "duration": 3.0,
        "config": {"strategy": {"type_": "concurrent", "streams": 4, "max_concurrency": 4},
                   "backend": {"target": "http://gpu:8000", "model": "llama"}},
        "metrics": metrics | changes,
        "requests": {"successful": [request], "incomplete": [], "errored": [failed], "total": None},
    }  # fmt: skip
    args = {"target": "http://gpu:8000", "data": ["prompt_tokens=10,output_tokens=30"]}
    metadata = {"version": 1, "guidellm_version": "0.5.0"}
    return {"metadata": metadata, "args": args, "benchmarks": [benchmark, benchmark]}

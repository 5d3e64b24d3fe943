"""Made-up options of a benchmark, for the advisor's tests."""

from __future__ import annotations

from typing import Any

from specviz.analysis.advisor.measured import Measured, Option
from specviz.analysis.benchmark.results import Speedup
from specviz.methods import Method


def option(
    ratio: float, method: Method = Method.EAGLE3, *, width: float = 0.1, **changes: Any
) -> Option:
    """An arm with a speed-up of `ratio`, its interval `width` to either side."""
    values = {
        "arm": f"{method.value} · K {changes.get('k', 5)}",
        "engine": "vllm",
        "method": method,
        "k": 5,
        "draft": None,
        "temperature": 0.0,
        "concurrency": 1,
        "category": None,
        "speedup": Speedup(ratio, ratio - width, ratio + width, 12, 0, "time"),
        "acceptance": 0.7,
        "tpot_p95_ms": 10.0 / ratio,
        "output_throughput": 100.0 * ratio,
        "request_throughput": ratio,
        "memory_bytes": 1_000_000_000,
        "memory_source": "GPU memory of the server's processes",
    }
    return Option(**{**values, **changes})


def measured(*options: Option) -> Measured:
    return Measured('benchmark "made up" (0123abcd)', options)

"""A cell's line of figures in a terminal and in a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specviz.analysis.benchmark.results import load_text
from specviz.analysis.text import digits

Document = Mapping[str, Any]

COLUMNS = (
    *("TTFT P50 ms", "TPOT P50 ms", "TPOT P95 ms", "E2E P50 ms", "tok/s", "accepted"),
    *("tok/step", "speed-up, 95 %"),
)


def cell_figures(cell: Document) -> tuple[str | None, ...]:
    """One text per column but the speed-up, None where there is no figure.

    `cell` is one of the results that `--json` prints.
    """
    accepted = cell["acceptance"] or {}
    figures = (
        _quantile(cell["ttft_ms"], "p50"),
        _quantile(cell["tpot_ms"], "p50"),
        _quantile(cell["tpot_ms"], "p95"),
        _quantile(cell["e2el_ms"], "p50"),
        cell["output_throughput"],
        accepted.get("draft_acceptance_rate"),
        accepted.get("mean_acceptance_length"),
    )
    return tuple(map(digits, figures))


def load_of(cell: Document) -> str:
    """How many requests were in flight, in words."""
    return load_text(cell["concurrency"], cell["request_rate"])


def _quantile(quantiles: Document | None, name: str) -> float | None:
    return None if quantiles is None else quantiles[name]

"""SpecForge's `specforge benchmark … --output-json`: one measurement of a running SGLang server.

Written by specforge/benchmarks/sglang.py (`BenchmarkResult`, read in 0.2.0). Its
`average_acceptance_length` is the mean of the requests' `spec_accept_length`, which SGLang computes
as completion tokens / verification steps. That is not the length of the column
`mean_acceptance_length`, so it stays in the document, where `analysis.acceptance` finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from specviz.store.exchange.results.measured import (
    JsonFormat,
    Measured,
    Reading,
    as_text,
    number,
    whole,
)

NEEDED = {"backend", "samples", "latency_seconds", "throughput_tokens_per_second"}


def _recognises(documents: Sequence[Any]) -> bool:
    return len(documents) == 1 and isinstance(documents[0], dict) and set(documents[0]) >= NEEDED


def _read(documents: Sequence[Any]) -> Reading:
    (document,) = documents
    length = number(document.get("average_acceptance_length"))
    if length is not None and length < 0:
        raise ValueError("its average acceptance length is negative")
    steps = document.get("spec_verify_count")
    row = {
        "name": f"SpecForge {document.get('dataset') or ''}".strip(),
        "server": as_text(document["backend"]),
        "dataset": as_text(document.get("dataset")),
        "num_requests": whole(document["samples"]),
        "output_tokens": whole(document["output_tokens"]),
        "duration_s": number(document["latency_seconds"]),
        "output_throughput": number(document["throughput_tokens_per_second"]),
        "num_drafts": None if steps is None else whole(steps),
    }
    return [Measured(row, document)], ()


SPECFORGE = JsonFormat("specforge benchmark", _recognises, _read)

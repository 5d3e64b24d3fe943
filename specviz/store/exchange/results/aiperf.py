"""AIPerf's `profile_export_aiperf.json`, and `profile_export.jsonl` of its single requests.

Written by aiperf/exporters/metrics_json_exporter.py and the records exporter (schema 1.4, read in
0.13.0). The summary of versions since October 2025 (AIPerf pull request 343), which name no
version, has the same metrics. AIPerf's other files are refused with what to import instead.
Acceptance comes from the server's own counts per request, as `SpecDecodeAcceptanceRecord`
(aiperf/common/models/spec_decode_models.py); in 0.13 only vLLM sends them. Its
`spec_decode_acceptance_length` is a mean of requests, so it stays in the document, where
`analysis.acceptance` finds it; the columns get the figures over all steps.
https://github.com/ai-dynamo/aiperf
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from specviz.store.exchange.results.draft_steps import (
    MOST_POSITIONS,
    DraftStep,
    columns_of,
    totals_of,
)
from specviz.store.exchange.results.measured import (
    Json,
    JsonFormat,
    Measured,
    Reading,
    as_text,
    number,
    small,
    whole,
)

TOOL = "aiperf"
FIGURES = {
    "ttft": "time_to_first_token",
    "tpot": "inter_token_latency",
    "e2el": "request_latency",
}
"""Our metric and AIPerf's, which is the same quantity: its inter-token latency leaves the first
token out."""

STATISTICS = {"mean": "avg", "p50": "p50", "p95": "p95", "p99": "p99"}
WARM_UP = "warmup"


OTHER_FILES = {
    "timeslices": "these are its time slices: import profile_export_aiperf.json",
    "records": "a version before October 2025 wrote it: measure again with a newer one",
    "metrics": "this is the aggregate of several runs: import profile_export_aiperf.json of each",
}
"""The key by which another document of AIPerf is known, and what is said of it."""


def _is_summary(documents: Sequence[Any]) -> bool:
    if len(documents) != 1 or not isinstance(documents[0], dict):
        return False
    (document,) = documents
    unversioned = "was_cancelled" in document and {"request_latency", "records"} & set(document)
    return "aiperf_version" in document or "timeslices" in document or bool(unversioned)


def _is_records(documents: Sequence[Any]) -> bool:
    return (
        bool(documents)
        and isinstance(documents[0], dict)
        and set(documents[0]) >= {"metadata", "metrics"}
        and bool({"benchmark_phase", "credit_phase"} & set(_dict(documents[0]["metadata"])))
    )


def _read_summary(documents: Sequence[Any]) -> Reading:
    (document,) = documents
    for key, reason in OTHER_FILES.items():
        if key in document:
            raise ValueError(reason)
    config = _dict(document.get("input_config"))
    endpoint = _dict(config.get("endpoint"))
    row: Json = {
        "name": f"AIPerf {_dict(document.get('run_info')).get('run_label') or ''}".strip(),
        "model": _joined(_dict(config.get("models")).get("items") or endpoint.get("model_names")),
        "server": _joined(endpoint.get("urls") or endpoint.get("url")),
        "num_requests": _total(document, "request_count") or 0,
        "num_failed": _total(document, "error_request_count"),
        "duration_s": _figure(document, "benchmark_duration", "sec"),
        "prompt_tokens": _total(document, "total_usage_prompt_tokens", "total_isl"),
        "output_tokens": _total(document, "total_usage_completion_tokens", "total_osl"),
        "request_throughput": _figure(document, "request_throughput", "requests/sec"),
        "output_throughput": _figure(document, "output_token_throughput", "tokens/sec"),
    }
    for metric, theirs in FIGURES.items():
        for statistic, name in STATISTICS.items():
            row[f"{metric}_{statistic}_ms"] = _figure(document, theirs, "ms", name)
    notes = []
    if "aiperf_version" not in document:
        notes.append("An AIPerf that named no version wrote the file; 0.13 is the one known here.")
    if document.get("is_complete") is False:
        notes.append(f"AIPerf says that it did not finish: {document.get('incomplete_reason')!r}.")
    if (histogram := document.get("pooled_spec_decode_acceptance_histogram")) is not None:
        drafted = _total(document, "total_draft_tokens")
        steps = _total(document, "total_spec_decode_steps")
        if drafted is None or steps is None:
            raise ValueError("there is a histogram of accepted drafts without their totals")
        row |= totals_of(steps, drafted, _histogram(histogram))
    return [Measured(row, document)], tuple(notes)


def _read_records(documents: Sequence[Any]) -> Reading:
    if "credit_phase" in documents[0]["metadata"]:
        raise ValueError(OTHER_FILES["records"])
    records = [one for one in documents if one["metadata"]["benchmark_phase"] != WARM_UP]
    began = [whole(one["metadata"]["request_start_ns"]) for one in records]
    first = min(began, default=0)
    requests = [_request(one, (at - first) / 1e9) for one, at in zip(records, began, strict=True)]
    failed = sum(request["error"] is not None for request in requests)
    row: Json = {
        "name": "AIPerf, single requests",
        "started_at": datetime.fromtimestamp(first / 1e9, UTC).replace(tzinfo=None)
        if records
        else None,
        "num_requests": len(requests) - failed,
        "num_failed": failed,
        **{name: _sum(requests, name) for name in ("prompt_tokens", "output_tokens")},
        **_pooled([one["spec_decode_acceptance"] for one in records if _counts(one)]),
    }
    engines = {one["spec_decode_acceptance"]["engine"] for one in records if _counts(one)}
    notes = []
    if left_out := len(documents) - len(records):
        notes.append(f"Warm-up requests are left out: {left_out:,}.")
    if 0 < (counted := sum(map(_counts, records))) < len(records):
        notes.append(f"The server reported acceptance of {counted:,} of {len(records):,} requests.")
    return [Measured(row, {"engines": sorted(map(str, engines))}, tuple(requests))], tuple(notes)


def _sum(requests: Sequence[Json], name: str) -> int | None:
    """Of finished requests; None unless all of them report it."""
    values = [request[name] for request in requests if request["error"] is None]
    return sum(values) if values and None not in values else None


def _counts(record: Mapping[str, Any]) -> bool:
    return record.get("spec_decode_acceptance") is not None


def _pooled(records: Sequence[Mapping[str, Any]]) -> Json:
    """The acceptance columns of `elsewhere` over the steps of all requests."""
    if not records:
        return {}
    accepted: Counter[int] = Counter()
    for record in records:
        accepted.update(_histogram(record["acceptance_histogram"]))
    bounds = {record.get("num_spec_tokens") for record in records}
    k = whole(bounds.pop()) if len(bounds) == 1 and None not in bounds else None
    totals = totals_of(
        sum(whole(record["num_spec_steps"]) for record in records),
        sum(whole(record["num_draft_tokens"]) for record in records),
        accepted,
        k,
    )
    return {**totals, "k": k or None}


def _request(record: Mapping[str, Any], started_s: float) -> Json:
    error = _dict(record.get("error"))
    request: Json = {
        "started_s": started_s,
        "sequence": as_text(record["metadata"].get("x_request_id")),
        "prompt_tokens": _tokens(record, "usage_prompt_tokens", "input_sequence_length"),
        "output_tokens": _tokens(record, "usage_completion_tokens", "output_sequence_length"),
        "gaps_ms": _gaps(record["metrics"].get("inter_chunk_latency")),
        "error": as_text(error.get("message") or error.get("type")) if error else None,
    }
    for metric, theirs in FIGURES.items():
        request[f"{metric}_ms"] = _of_request(record, theirs, "ms")
    return request | (_drafts(record["spec_decode_acceptance"]) if _counts(record) else {})


def _drafts(record: Mapping[str, Any]) -> Json:
    """The counts of one `SpecDecodeAcceptanceRecord`, and its steps if it lists them.

    Raises ValueError if they contradict each other, as AIPerf itself does.
    """
    counts = {
        "num_drafts": small(record["num_spec_steps"]),
        "num_draft_tokens": small(record["num_draft_tokens"]),
        "num_accepted_tokens": small(record["num_accepted_draft_tokens"]),
    }
    histogram = _histogram(record["acceptance_histogram"])
    bound = record.get("num_spec_tokens")
    if bound is not None and not max(histogram, default=0) <= small(bound) <= MOST_POSITIONS:
        raise ValueError("its draft length and its histogram contradict each other")
    found = totals_of(counts["num_drafts"], counts["num_draft_tokens"], histogram)
    if found["num_accepted_tokens"] != counts["num_accepted_tokens"]:
        raise ValueError("its histogram and its accepted tokens contradict each other")
    drafted, accepted = record.get("per_step_drafted"), record.get("per_step_accepted")
    if drafted is None or accepted is None:
        return counts
    steps = [
        DraftStep(index, small(own), small(taken))
        for index, (own, taken) in enumerate(zip(drafted, accepted, strict=True))
    ]
    listed = columns_of(steps)
    if (len(steps), *(listed[name] for name in list(counts)[1:])) != tuple(counts.values()):
        raise ValueError("its steps and their totals contradict each other")
    return {**counts, "steps": listed["steps"]}


def _histogram(value: Mapping[str, Any]) -> dict[int, int]:
    """Steps by accepted draft tokens; JSON has the keys as text."""
    return {small(int(accepted)): whole(steps) for accepted, steps in value.items()}


def _figure(document: Json, metric: str, unit: str, statistic: str = "avg") -> float | None:
    """A figure in the unit that AIPerf 0.13 writes. Raises ValueError for another unit."""
    found = document.get(metric)
    return None if found is None else _in(unit, metric, found["unit"], found.get(statistic))


def _of_request(record: Mapping[str, Any], metric: str, unit: str) -> float | None:
    found = record["metrics"].get(metric)
    return None if found is None else _in(unit, metric, found["unit"], found["value"])


def _tokens(record: Mapping[str, Any], counted: str, own: str) -> int | None:
    """The server's count, else AIPerf's own, which tokenizes the text again and can be off."""
    found = _of_request(record, counted, "tokens")
    found = _of_request(record, own, "tokens") if found is None else found
    return None if found is None else small(found)


def _gaps(metric: Any) -> list[float | None] | None:
    if metric is None:
        return None
    return [_in("ms", "inter_chunk_latency", metric["unit"], gap) for gap in metric["value"]]


def _in(unit: str, metric: str, theirs: Any, value: Any) -> float | None:
    if theirs != unit:
        raise ValueError(f"{metric} is in {str(theirs)[:20]!r}, not in {unit}")
    return number(value)


def _total(document: Json, *metrics: str) -> int | None:
    """The first of these metrics that the file has."""
    for metric in metrics:
        if (found := number(_dict(document.get(metric)).get("avg"))) is not None:
            return whole(found)
    return None


def _joined(value: Any) -> str | None:
    """Names of models or servers, as a list or one."""
    if isinstance(value, list):
        return ", ".join(_joined(one) or "" for one in value)
    return as_text(value.get("name") if isinstance(value, dict) else value)


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


AIPERF = JsonFormat(TOOL, _is_summary, _read_summary)
AIPERF_RECORDS = JsonFormat(TOOL, _is_records, _read_records)

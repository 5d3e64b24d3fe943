"""TensorRT-LLM's names on `/prometheus/metrics`, which it has with `return_perf_metrics: true`.

Its `/metrics` is JSON that forgets what was read; it is left to whoever collects it. Counters per
draft position are newer than 1.2: before, the number of drafts is not counted.
Source: main at 0076e93, `tensorrt_llm/metrics/collector.py`.
"""

from __future__ import annotations

from specviz.errors import MalformedReply
from specviz.servers.checked import count
from specviz.servers.metrics import (
    MAX_TOTAL,
    ServerLoad,
    SpecCounters,
    position_of,
    read_load,
    samples,
)

METRICS_PATH = "/prometheus/metrics"

DRAFTED = "trtllm_spec_decode_drafted_tokens_total"
ACCEPTED = "trtllm_spec_decode_accepted_tokens_total"

_LOAD = {
    "trtllm_num_requests_running": "running",
    "trtllm_num_requests_waiting": "waiting",
    "trtllm_kv_cache_utilization": "kv_cache_usage",
    "trtllm_generation_tokens_total": "output_tokens",
    "trtllm_request_success_total": "requests",
}


def parse_counters(page: str) -> SpecCounters | None:
    """Counts of completed requests: as many drafts as tokens drafted at the first position.

    None where the page has no counts per position. Raises MalformedReply.
    """
    drafted, accepted = _per_position(page, DRAFTED), _per_position(page, ACCEPTED)
    if 0 not in drafted:
        return None
    if any(number > drafted.get(position, 0) for position, number in accepted.items()):
        raise MalformedReply("/prometheus/metrics counts more accepted than drafted tokens")
    by_position = tuple(accepted.get(position, 0) for position in sorted(drafted))
    return SpecCounters(drafted[0], sum(drafted.values()), sum(accepted.values()), by_position)


def parse_load(page: str) -> ServerLoad:
    """Running and queued requests, KV cache, answer lengths."""
    return read_load(page, _LOAD)


def _per_position(page: str, name: str) -> dict[int, int]:
    found: dict[int, int] = {}
    for sample in samples(page):
        if sample.name == name and "token_position" in sample.labels:
            position = position_of(sample.labels["token_position"])
            found[position] = found.get(position, 0) + count(sample.value, name, 0, MAX_TOTAL)
    return found

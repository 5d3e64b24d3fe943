"""vLLM's names on `/metrics`."""

from __future__ import annotations

from specviz.servers.metrics import (
    RequestTimes,
    ServerLoad,
    SpecCounters,
    read_counters,
    read_load,
    read_request_times,
    samples,
)

_COUNTERS = "vllm:spec_decode_num_"
_LOAD = {
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "waiting",
    "vllm:kv_cache_usage_perc": "kv_cache_usage",
    "vllm:num_preemptions_total": "preemptions",
    "vllm:request_generation_tokens_sum": "output_tokens",
    "vllm:request_generation_tokens_count": "requests",
}

_REQUEST_TIMES = {
    "vllm:e2e_request_latency_seconds_count": "requests",
    "vllm:e2e_request_latency_seconds_sum": "e2el_s",
    "vllm:time_to_first_token_seconds_sum": "ttft_s",
}


def has_metrics(page: str) -> bool:
    """Whether the page is of a vLLM server. Raises MalformedReply for one that is not metrics."""
    return any(sample.name.startswith("vllm:") for sample in samples(page))


def parse_counters(page: str) -> SpecCounters | None:
    """The speculation counters; None where the server does not speculate."""
    return read_counters(page, _COUNTERS)


def parse_load(page: str) -> ServerLoad:
    """Running and waiting requests, KV cache, preemptions, answer lengths."""
    return read_load(page, _LOAD)


def parse_request_times(page: str) -> RequestTimes | None:
    """Requests and their times as vLLM measured them."""
    return read_request_times(page, _REQUEST_TIMES)


def parse_prefix_caching(page: str) -> bool | None:
    """Whether prefixes are cached; None where the page does not say."""
    for sample in samples(page):
        if sample.name == "vllm:cache_config_info":
            enabled = sample.labels.get("enable_prefix_caching", "")
            return {"True": True, "False": False}.get(enabled)
    return None

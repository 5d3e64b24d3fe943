"""SGLang's names on `/metrics`, which it has with `--enable-metrics`.

Of speculation it has the acceptance of the last batch and the number of verifications, but no count
of drafted or accepted tokens: nothing that could be subtracted and compared with requests.
Source: 0.5.23, `observability/metrics_collector.py`.
"""

from __future__ import annotations

from specviz.servers.metrics import ServerLoad, read_load

_LOAD = {
    "sglang:num_running_reqs": "running",
    "sglang:num_queue_reqs": "waiting",
    "sglang:token_usage": "kv_cache_usage",
    "sglang:num_retracted_requests_total": "preemptions",
    "sglang:generation_tokens_total": "output_tokens",
    "sglang:num_requests_total": "requests",
}


def parse_load(page: str) -> ServerLoad:
    """Running and queued requests, KV cache, retractions, answer lengths."""
    return read_load(page, _LOAD)

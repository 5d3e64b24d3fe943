"""How a running vLLM server is loaded, from its `/metrics`."""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

_GAUGES = {
    "vllm:num_requests_running": "running",
    "vllm:num_requests_waiting": "waiting",
    "vllm:kv_cache_usage_perc": "kv_cache_usage",
    "vllm:num_preemptions_total": "preemptions",
    "vllm:request_generation_tokens_sum": "output_tokens",
    "vllm:request_generation_tokens_count": "requests",
}


@dataclass(frozen=True, slots=True)
class ServerLoad:
    """`running` and `waiting` requests now, KV cache usage 0-1 now (of the fullest engine);
    preemptions, output tokens and finished requests since the server started. None: not told."""

    running: float | None = None
    waiting: float | None = None
    kv_cache_usage: float | None = None
    preemptions: float | None = None
    output_tokens: float | None = None
    requests: float | None = None

    @property
    def mean_output_tokens(self) -> float | None:
        """Per finished request; None before the first one."""
        if not self.requests or self.output_tokens is None:
            return None
        return self.output_tokens / self.requests


def parse_load(text: str) -> ServerLoad:
    """Read a `/metrics` page, summed over the server's engines."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            name = _GAUGES.get(sample.name)
            if name == "kv_cache_usage":
                found[name] = max(found.get(name, 0.0), sample.value)
            elif name:
                found[name] = found.get(name, 0.0) + sample.value
    return ServerLoad(**found)

"""Triton's names on `/metrics`, and those that its vLLM back end adds.

Acceptance is in neither: of vLLM's counters the back end passes on prompt and output tokens and
times (`vllm_backend` at 8de0c14, `src/utils/metrics.py`). The TensorRT-LLM back end adds none here.
"""

from __future__ import annotations

from specviz.servers.metrics import ServerLoad, read_load

_LOAD = {
    "nv_inference_pending_request_count": "waiting",
    "vllm:request_generation_tokens_sum": "output_tokens",
    "vllm:request_generation_tokens_count": "requests",
}


def parse_load(page: str) -> ServerLoad:
    """Waiting requests, and with the vLLM back end answer lengths."""
    return read_load(page, _LOAD)

"""Servers of each kind as their sources describe them: pages and streams, field by field.

None was recorded from a running server. SGLang: 0.5.23 (`entrypoints/http_server.py`,
`entrypoints/openai/{protocol,sse_utils,serving_chat,usage_processor}.py`,
`observability/metrics_collector.py`). TensorRT-LLM: main at 0076e93
(`tensorrt_llm/serve/{openai_server,openai_protocol,postprocess_handlers}.py`,
`tensorrt_llm/metrics/collector.py`). Triton: server at 03c2093
(`python/openai/openai_frontend/engine/triton_engine.py`, `schemas/openai.py`), vllm_backend at
8de0c14 (`src/utils/metrics.py`). LM Studio: lmstudio.ai/docs, app/api-changelog and api/rest-api.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from specviz.config import EngineKind
from tests.support.servers.hostile_server import HostileServer, Says, stream
from tests.support.servers.scripted_server import chunk

Json = dict[str, Any]


def page(value: object) -> str:
    return json.dumps(value)


def models(owned_by: str, **more: Any) -> str:
    card = {"id": "demo", "object": "model", "created": 1, "owned_by": owned_by, **more}
    return page({"object": "list", "data": [card]})


# SGLang: ModelCard; build_server_info, shortened to what specviz reads and some of its neighbours

SGLANG_INFO: Json = {
    "model_path": "meta-llama/Llama-3.1-8B-Instruct",
    "tokenizer_path": "meta-llama/Llama-3.1-8B-Instruct",
    "device": "cuda",
    "disable_radix_cache": False,
    "stream_interval": 1,
    "speculative_algorithm": "EAGLE3",
    "speculative_draft_model_path": "lmsys/sglang-EAGLE3-LLaMA3.1-Instruct-8B",
    "speculative_num_steps": 3,
    "speculative_eagle_topk": 1,
    "speculative_num_draft_tokens": 4,
    "speculative_accept_threshold_single": 1.0,
    "speculative_accept_threshold_acc": 1.0,
    "speculative_use_rejection_sampling": False,
    "speculative_use_block_verification": False,
    "speculative_adaptive": False,
    "launch_command": "python -m sglang.launch_server ...",
    "internal_states": [{"avg_spec_accept_length": 2.5}],
    "version": "0.5.23",
    "frontend": "python",
}
SGLANG_METRICS = """\
# HELP sglang:num_running_reqs The number of running requests.
# TYPE sglang:num_running_reqs gauge
sglang:num_running_reqs{engine_type="unified",model_name="demo",tp_rank="0"} 2.0
# TYPE sglang:num_queue_reqs gauge
sglang:num_queue_reqs{engine_type="unified",model_name="demo",tp_rank="0"} 1.0
# TYPE sglang:token_usage gauge
sglang:token_usage{engine_type="unified",model_name="demo",tp_rank="0"} 0.25
# TYPE sglang:num_retracted_requests_total counter
sglang:num_retracted_requests_total{model_name="demo"} 0.0
# TYPE sglang:spec_accept_length gauge
sglang:spec_accept_length{engine_type="unified",model_name="demo",tp_rank="0"} 2.5
# TYPE sglang:spec_verify_calls_total counter
sglang:spec_verify_calls_total{model_name="demo"} 40.0
# TYPE sglang:generation_tokens_total counter
sglang:generation_tokens_total{is_streaming="true",model_name="demo"} 100.0
# TYPE sglang:num_requests_total counter
sglang:num_requests_total{is_streaming="true",model_name="demo"} 4.0
"""


def sglang(info: Mapping[str, Any] = {}, **more: Says) -> dict[str, Says]:
    return {
        "/v1/models": models("sglang", root="demo", parent=None, max_model_len=4096),
        "/server_info": page({**SGLANG_INFO, **info}),
        "/metrics": SGLANG_METRICS,
        **more,
    }


def sglang_chunk(text: str, so_far: int) -> str:
    """StreamChunk with `continuous_usage_stats`; reasoning_content is always there."""
    delta = {"reasoning_content": None, "content": text}
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
    return page(
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "demo",
            "choices": [{**choice, "matched_stop": None}],
            "usage": sglang_usage(so_far),
        }
    )


def sglang_usage(so_far: int) -> Json:
    """UsageInfo."""
    return {
        "prompt_tokens": 3,
        "total_tokens": 3 + so_far,
        "completion_tokens": so_far,
        "prompt_tokens_details": None,
        "reasoning_tokens": 0,
        "completion_tokens_details": None,
    }


def sglang_details(histogram: Sequence[int], *, k: int = 3) -> Json:
    """SpecTokensDetails; `histogram[n]`: steps that accepted n tokens."""
    steps = sum(histogram)
    correct = sum(n * number for n, number in enumerate(histogram))
    return {
        "spec_accept_rate": correct / (steps * k) if steps else 0.0,
        "spec_accept_length": 0.0,
        "spec_cap_length": 0.0,
        "spec_block_accept_length": 0.0,
        "spec_num_correct_drafts": correct,
        "spec_num_proposed_drafts": steps * k,
        "spec_verify_ct": steps,
        "spec_correct_drafts_histogram": list(histogram),
        "spec_cap_lens_histogram": [],
    }


def sglang_stream(
    sizes: Sequence[int],
    details: Mapping[str, Any] | None,
    *,
    cut: int = 0,
    ids: Sequence[int] | None = None,
) -> list[str]:
    """An answer of chunks of these sizes, its last `cut` tokens without text (the end of the text):
    role, text, reason to finish, sglext, usage."""
    total, so_far = sum(sizes), 0
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "demo"}
    lines = [chunk("")]
    for size in sizes:
        shown = range(so_far, min(so_far + size, total - cut))
        so_far += size
        if shown:
            lines.append(sglang_chunk("".join(f"t{100 + one} " for one in shown), so_far))
    lines.append(chunk(finish="stop"))
    ids = [100 + one for one in range(total)] if ids is None else ids
    sglext = {"spec_tokens_details": details, "output_ids": [list(ids)]}
    present = {name: value for name, value in sglext.items() if value is not None}
    lines.append(page({**base, "choices": [], "usage": None, "sglext": present}))
    lines.append(page({**base, "choices": [], "usage": sglang_usage(total)}))
    return [*lines, "[DONE]"]


# TensorRT-LLM: ModelCard; MetricsCollector; ChatCompletionResponseStreamChoice

TENSORRT_LLM_METRICS = """\
# TYPE trtllm_num_requests_running gauge
trtllm_num_requests_running{engine_type="pytorch",model_name="demo"} 3.0
# TYPE trtllm_num_requests_waiting gauge
trtllm_num_requests_waiting{engine_type="pytorch",model_name="demo"} 0.0
# TYPE trtllm_kv_cache_utilization gauge
trtllm_kv_cache_utilization{engine_type="pytorch",model_name="demo"} 0.5
# TYPE trtllm_request_success_total counter
trtllm_request_success_total{finished_reason="stop",model_name="demo"} 3.0
trtllm_request_success_total{finished_reason="length",model_name="demo"} 1.0
# TYPE trtllm_generation_tokens_total counter
trtllm_generation_tokens_total{model_name="demo"} 80.0
# TYPE trtllm_spec_decode_drafted_tokens_total counter
trtllm_spec_decode_drafted_tokens_total{model_name="demo",token_position="0"} 30.0
trtllm_spec_decode_drafted_tokens_total{model_name="demo",token_position="1"} 30.0
# TYPE trtllm_spec_decode_accepted_tokens_total counter
trtllm_spec_decode_accepted_tokens_total{model_name="demo",token_position="0"} 20.0
trtllm_spec_decode_accepted_tokens_total{model_name="demo",token_position="1"} 10.0
# TYPE trtllm_speculative_config_info gauge
trtllm_speculative_config_info{model_name="demo",spec_draft_model="eagle",spec_enabled="true",\
spec_method="Eagle3",spec_num_tokens="4"} 1.0
"""


def tensorrt_llm(**more: Says) -> dict[str, Says]:
    return {
        "/v1/models": models("tensorrt_llm"),
        "/version": page({"version": "1.2.1"}),
        "/server_info": page({"disaggregated_params": None}),
        "/metrics": page([{"iter": 1, "iterLatencyMS": 4.2}]),
        "/prometheus/metrics": TENSORRT_LLM_METRICS,
        **more,
    }


def tensorrt_llm_chunk(text: str, per_iter: float | None, finish: str | None = None) -> str:
    """Written with `exclude_none`."""
    choice: Json = {"index": 0, "delta": {"content": text, "reasoning_content": ""}}
    if per_iter is not None:
        choice["avg_decoded_tokens_per_iter"] = per_iter
    if finish:
        choice["finish_reason"] = finish
    return page(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "demo",
            "choices": [choice],
        }
    )


# Triton: `models`; server.metrics(), with what the vLLM back end adds

TRITON_METRICS = """\
# HELP nv_inference_request_success Number of successful inference requests, all batch sizes
# TYPE nv_inference_request_success counter
nv_inference_request_success{model="demo",version="1"} 4
# TYPE nv_inference_pending_request_count gauge
nv_inference_pending_request_count{model="demo",version="1"} 1
# TYPE vllm:request_generation_tokens histogram
vllm:request_generation_tokens_bucket{model="demo",version="1",le="+Inf"} 4
vllm:request_generation_tokens_sum{model="demo",version="1"} 60
vllm:request_generation_tokens_count{model="demo",version="1"} 4
"""


def triton(**more: Says) -> dict[str, Says]:
    return {
        "/v1/models": models("Triton Inference Server"),
        "/metrics": TRITON_METRICS,
        "/health/ready": "",
        **more,
    }


# LM Studio: GET /api/v0/models; what it does not know it answers with an error and status 200

LM_STUDIO_MODEL: Json = {
    "id": "demo",
    "object": "model",
    "type": "llm",
    "publisher": "lmstudio-community",
    "arch": "llama",
    "compatibility_type": "gguf",
    "quantization": "Q4_K_M",
    "state": "loaded",
    "max_context_length": 131072,
}


def lm_studio(**more: Says) -> dict[str, Says]:
    unknown = page({"error": "Unexpected endpoint or method."})
    return {
        "/v1/models": models("organization_owner"),
        "/api/v0/models": page({"object": "list", "data": [LM_STUDIO_MODEL]}),
        **dict.fromkeys(("/version", "/metrics", "/server_info"), unknown),
        **more,
    }


def vllm(**more: Says) -> dict[str, Says]:
    return {
        "/v1/models": models("vllm", root="demo", max_model_len=64),
        "/version": page({"version": "0.32.0"}),
        "/metrics": "vllm:num_requests_running 0.0\n",
        **more,
    }


# llama.cpp: /props, /slots and an entry of /v1/models, shortened to what specviz reads


def llama_cpp(**more: Says) -> dict[str, Says]:
    return {
        "/v1/models": models("llamacpp", tags=[]),
        "/props": page({"build_info": "b11549-0274f0f", "total_slots": 4}),
        "/slots": page([{"id": 0, "speculative": True, "is_processing": False}]),
        **more,
    }


PAGES: Mapping[EngineKind, dict[str, Says]] = {
    EngineKind.SGLANG: sglang(),
    EngineKind.TENSORRT_LLM: tensorrt_llm(),
    EngineKind.TRITON: triton(),
    EngineKind.VLLM: vllm(),
    EngineKind.LLAMA_CPP: llama_cpp(),
    EngineKind.LM_STUDIO: lm_studio(),
}
"""The pages of each kind."""


def answering(pages: Mapping[str, Says], lines: Sequence[str]) -> HostileServer:
    """A server with these pages that answers a chat so."""
    return HostileServer({**pages, "/v1/chat/completions": stream(*lines)})

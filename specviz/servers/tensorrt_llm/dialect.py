"""TensorRT-LLM's record: how such a server is recognised, asked and read."""

from __future__ import annotations

from specviz.config import EngineKind
from specviz.servers.dialect import Dialect, cannot_detokenize, new_request_id, nothing
from specviz.servers.tensorrt_llm.chunk_extras import read_extras, totals
from specviz.servers.tensorrt_llm.identify import identify
from specviz.servers.tensorrt_llm.metrics import METRICS_PATH, parse_counters, parse_load

TENSORRT_LLM = Dialect(
    name="TensorRT-LLM",
    engine=EngineKind.TENSORRT_LLM,
    advice=(
        "trtllm-serve reports tokens per step for each request, and neither drafted tokens nor its "
        "acceptance rule. With `return_perf_metrics: true` it counts acceptance for all requests "
        "together."
    ),
    identify=identify,
    request_id=new_request_id,
    extra_body={},
    uncached=dict,
    read_extras=read_extras,
    counts=nothing,
    counters=parse_counters,
    prefix_caching=nothing,
    load=parse_load,
    detokenize=cannot_detokenize,
    request_totals=totals,
    metrics_path=METRICS_PATH,
)

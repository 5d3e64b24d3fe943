"""What of a server's configuration keeps decisions out of a trace.

Async scheduling, CUDA graphs, tensor and pipeline parallelism, prefix caching and chunked prefill
are not here: the rejection sampler runs outside of the graphs, once per step, and the plugin
watches it in one worker that sees the whole batch. Read in vLLM 0.32 and 0.33. Where no worker
sees the whole batch (`enable_batch_sharded_sampling`), nothing can be traced.
"""

from __future__ import annotations

from typing import Any


def hidden_by(config: Any) -> list[str]:
    """A sentence per reason, from a `VllmConfig`; empty if a trace has every decision."""
    speculative = config.speculative_config
    if getattr(speculative, "enable_adaptive_verification", False):
        return [
            "Adaptive verification is on: drafts are cut on the GPU before they are judged, and "
            "what was cut is not in a trace."
        ]
    return []

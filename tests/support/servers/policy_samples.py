"""A policy, and what a scheduler reads of a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specviz.policy.file import parse_policy

POLICY = parse_policy("""
version = 1
num_speculative_tokens = 5
requests_running = [1, 4, 16]
hold_steps = 3

[[rows]]
temperature = 0.7
category = "code"
k = [5, 4, 3]

[[rows]]
temperature = 0.7
k = [4, 2, 1]

[[rows]]
k = [1, 0, 0]
""")


@dataclass
class Params:
    """Of vLLM's SamplingParams, what the scheduler reads."""

    temperature: float = 0.0
    top_p: float = 1.0
    min_p: float = 0.0
    logit_bias: dict[int, float] | None = None
    extra_args: dict[str, Any] | None = None

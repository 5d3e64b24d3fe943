"""What a request asks of the scheduler, read from vLLM's SamplingParams.

vllm_xargs: {"spec_k": 0}           at most so many draft tokens per step
vllm_xargs: {"category": "code"}    the kind of prompt, where a policy has rows for it
"""

from __future__ import annotations

from typing import Any

SPEC_K = "spec_k"
CATEGORY = "category"


def unspeculated(params: Any) -> str | None:
    """The parameter with which vLLM cannot speculate; None where it can."""
    if params.logit_bias:
        return "logit_bias"
    return "min_p" if params.min_p else None


def spec_k(params: Any) -> int | None:
    """The K that the request asks for, None where it leaves that to the policy."""
    value = (params.extra_args or {}).get(SPEC_K)
    return value if type(value) is int else None


def category(params: Any) -> str | None:
    """The kind of prompt, where the request names it."""
    value = (params.extra_args or {}).get(CATEGORY)
    return value if isinstance(value, str) else None


def why_refused(params: Any, num_speculative_tokens: int) -> str | None:
    """What is wrong with the request's wishes, in a sentence; None if nothing is."""
    extra = params.extra_args or {}
    if SPEC_K in extra:
        value = extra[SPEC_K]
        if type(value) is not int or not 0 <= value <= num_speculative_tokens:
            return (
                f"spec_k in vllm_xargs must be a whole number from 0 to {num_speculative_tokens}, "
                f"the server's K, not {value!r}."
            )
    if CATEGORY in extra and not isinstance(extra[CATEGORY], str):
        return f"category in vllm_xargs must be a text, not {extra[CATEGORY]!r}."
    return None

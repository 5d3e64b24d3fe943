"""What `trtllm-serve` adds to OpenAI's chunks: tokens per iteration so far, nothing about drafts.

Unknown request fields are refused, so nothing is asked for. Drafted and accepted tokens per request
are on `/perf_metrics`, which forgets them when it is read: another reader would miss them.
Source: main at 0076e93, `tensorrt_llm/serve/openai_protocol.py`; `serve/postprocess_handlers.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specviz.servers import checked
from specviz.servers.dialect import Extras
from specviz.servers.trace_record import MAX_DRAFT
from specviz.trace import SpecTotals


def read_extras(data: Mapping[str, Any]) -> Extras:
    """`spec` is the mean of output tokens per iteration so far."""
    choice = data["choices"][0] if data["choices"] else {}
    return Extras(spec=choice.get("avg_decoded_tokens_per_iter"))


def totals(spec: Sequence[object]) -> SpecTotals | None:
    """Tokens per step, from the last chunk that has them."""
    if not spec:
        return None
    per_step = checked.number(spec[-1], "avg_decoded_tokens_per_iter", 0.0, MAX_DRAFT + 1)
    return SpecTotals(tokens_per_step=per_step) if per_step else None

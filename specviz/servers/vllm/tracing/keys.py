"""Which requests asked for a trace, by their request id.

The client sends `X-Request-Id: specviz-<32 hex digits>`. vLLM 0.32 makes of it, per sequence:

    cmpl-<id>-<prompt index>-<8 hex>      completions
    chatcmpl-<id>-<8 hex>                 chat
    <n>_cmpl-<id>-…                       choice n of several

A trace follows one sequence: the first choice of the first prompt.
"""

from __future__ import annotations

import re
import uuid

PREFIX = "specviz-"
_KEY = re.compile(r"specviz-[0-9a-f]{32}")
_ENGINE_ID = re.compile(
    r"(?:0_)?(?:cmpl-(specviz-[0-9a-f]{32})-0|chatcmpl-(specviz-[0-9a-f]{32}))"
    r"(?:-[0-9a-f]{8})?"
)


def new_key() -> str:
    """A key that nobody can guess, to be sent as `X-Request-Id`."""
    return f"{PREFIX}{uuid.uuid4().hex}"


def is_key(text: str) -> bool:
    """True for a well-formed key; anything else must never become part of a path."""
    return _KEY.fullmatch(text) is not None


def key_of(engine_request_id: str) -> str | None:
    """The key of the sequence's trace, None if it is not traced."""
    if PREFIX not in engine_request_id:
        return None
    match = _ENGINE_ID.fullmatch(engine_request_id)
    return (match[1] or match[2]) if match else None

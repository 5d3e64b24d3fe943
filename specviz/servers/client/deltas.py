"""The output in a delta: text, thinking, tool calls and refusals, under the names servers use.

Thinking has several names, and some servers send two of them with the same text. Content may be a
list of parts, and a part a list of parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from specviz.servers import checked
from specviz.servers.client.failures import reason_in
from specviz.trace import Channel, whole

Piece = tuple[str, Channel]

Starts = tuple[tuple[int, Channel], ...]
"""Places in a text, each with the kind of output that begins there."""

REASONING = ("reasoning", "reasoning_content", "reasoning_text", "thinking", "reasoning_details")
TEXTS = ("text", "content", "thinking", "reasoning", "summary", "refusal", "value")
FAILED = frozenset({"error", "abort", "aborted", "failed", "insufficient_system_resource"})
"""Reasons to end that say that the answer is not whole."""

MAX_DEPTH = 4
"""Parts within parts; nobody sends more."""


def parts_of(delta: Mapping[str, Any]) -> list[Piece]:
    """The output of one delta, in the order in which a model writes it.

    Raises MalformedReply for content of a type that nobody sends.
    """
    content = delta.get("content")
    parts = [(_thinking(delta), Channel.REASONING)]
    if isinstance(content, list | Mapping):
        parts += _parts(content)
    else:
        parts.append((checked.text(content or "", "delta.content"), Channel.ANSWER))
    parts.append((_text(delta.get("refusal")), Channel.REFUSAL))
    called = [*_listed(delta.get("tool_calls")), {"function": delta.get("function_call")}]
    parts += [(text, Channel.TOOL_CALL) for call in called for text in _call(call)]
    return [(text, channel) for text, channel in parts if text]


def joined(parts: Sequence[Piece]) -> tuple[str, Starts]:
    """The text of all parts, and which part is what; a character in two halves stays in one."""
    if len(parts) == 1 and parts[0][1] is Channel.ANSWER:
        return parts[0][0], ()
    text, starts = "", list[tuple[int, Channel]]()
    for piece, channel in parts:
        starts.append((len(text), channel))
        text += piece if len(parts) == 1 else whole(piece)
    return text, tuple(starts) if any(c is not Channel.ANSWER for _, c in starts) else ()


def text_of(pieces: Iterable[Piece], *, beside: bool = False) -> str:
    """The text of the answer, or of the output beside it."""
    return "".join(text for text, channel in pieces if (channel is not Channel.ANSWER) is beside)


def finish_of(reason: object) -> tuple[object, str | None]:
    """Why an answer ended, and the error in it: some servers send an object with a sentence."""
    if isinstance(reason, Mapping):
        kind = reason.get("type")
        return kind, (reason_in(dict(reason)) or str(kind)) if str(kind) in FAILED else None
    return reason or None, f"finish_reason {reason}" if str(reason).lower() in FAILED else None


def _thinking(delta: Mapping[str, Any]) -> str:
    return next(filter(None, (_text(delta.get(name)) for name in REASONING)), "")


def _parts(content: object) -> Iterator[Piece]:
    for part in content if isinstance(content, list) else [content]:
        kind = part.get("type") if isinstance(part, Mapping) else None
        channel = Channel.ANSWER
        if kind == "refusal":
            channel = Channel.REFUSAL
        elif isinstance(kind, str) and kind.startswith(("thinking", "reasoning")):
            channel = Channel.REASONING
        yield _text(part), channel


def _text(value: object, depth: int = MAX_DEPTH) -> str:
    """The text of a part, of parts, or of what holds them; empty where there is none."""
    if isinstance(value, str):
        return value
    if depth and isinstance(value, list):
        return "".join(_text(one, depth - 1) for one in value)
    if depth and isinstance(value, Mapping):
        held = (_text(value.get(name), depth - 1) for name in TEXTS)
        return next(filter(None, held), "")
    return ""


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _call(call: object) -> Iterator[str]:
    """The name of a tool and its arguments, as far as this delta has them."""
    if not isinstance(call, Mapping):
        return
    for about in (call.get("function"), call.get("custom")):
        if isinstance(about, Mapping):
            for name in ("name", "arguments", "input"):
                value = about.get(name)
                if value:
                    yield value if isinstance(value, str) else json.dumps(value)

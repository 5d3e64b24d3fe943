"""Streams as servers and proxies send them, each named after the report that has it.

`A` is output that is not content, `B` what carries no news, `C` errors in the server's words. Texts
and sentences are our own; fields, order and nulls are those of the report.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

WORDS = ("One", " two", " three")
USAGE = {"prompt_tokens": 9, "completion_tokens": 6, "total_tokens": 15}
DONE = b"data: [DONE]\n\n"


def event(body: object, prefix: bytes = b"data: ") -> bytes:
    return prefix + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def delta(finish: object = None, **fields: Any) -> bytes:
    """A chunk with these fields in its delta."""
    return choice({"delta": fields, "finish_reason": finish})


def choice(fields: dict[str, Any], **body: Any) -> bytes:
    return event({"id": "c", "model": "m", "choices": [{"index": 0, **fields}], **body})


def bare(**body: Any) -> bytes:
    return event({"id": "c", "model": "m", **body})


ROLE = delta(role="assistant", content="")
ANSWER = [delta(content=word) for word in WORDS]
END = delta("stop")
LENGTH = delta("length")
USED = bare(choices=[], usage=USAGE)


@dataclass(frozen=True)
class Case:
    """A stream, and what is to be read of it: the answer, the rest, words of the error."""

    name: str
    events: tuple[bytes, ...]
    text: str = "".join(WORDS)
    side: str = ""
    error: str | None = None


def _thought(name: str, *events: bytes, side: str = "I think", text: str = "".join(WORDS)) -> Case:
    return Case(name, (ROLE, *events, USED, DONE), text, side)


def _whole(name: str, *events: bytes) -> Case:
    return Case(name, events)


def _failed(name: str, *events: bytes, says: str, text: str = "One two") -> Case:
    return Case(name, events, text, "", says)


def _tool(**function: str) -> bytes:
    return delta(tool_calls=[{"index": 0, "function": function}])


BEGUN = (ROLE, *ANSWER[:2])

A = (
    _thought(
        "vllm#42781, ollama: reasoning",
        delta(reasoning="I"),
        delta(reasoning=" think"),
        *ANSWER,
        END,
    ),
    _thought(
        "deepseek, sglang, llama.cpp: reasoning_content",
        delta(reasoning_content="I", content=None),
        delta(reasoning_content=" think", content=None),
        *ANSWER,
        END,
    ),
    _thought(
        "sparkDash#36: both names with the same text",
        delta(reasoning="I think", reasoning_content="I think", content=""),
        *ANSWER,
        END,
    ),
    _thought(
        "promptfoo#10954: the limit spent on thinking", delta(reasoning="I think"), LENGTH, text=""
    ),
    _thought(
        "vllm#43933, litellm#27492: the end of thinking and the first word in one delta",
        delta(reasoning="I think", content="One"),
        *ANSWER[1:],
        END,
    ),
    _thought(
        "req_llm#742, symfony/ai#2423: Mistral's parts in parts",
        delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "I think"}]}]),
        delta(content=[{"type": "text", "text": word} for word in WORDS]),
        END,
    ),
    _thought(
        "openrouter: reasoning_details alone",
        delta(content="", reasoning_details=[{"type": "reasoning.text", "text": "I think"}]),
        *ANSWER,
        END,
    ),
    _thought(
        "openai: tool calls",
        delta(content=None, tool_calls=[{"index": 0, "id": "a", "function": {"name": "get"}}]),
        _tool(arguments='{"q"'),
        _tool(arguments=": 1}"),
        delta("tool_calls"),
        side='get{"q": 1}',
        text="",
    ),
    _thought(
        "openai before 2023-11: function_call",
        delta(function_call={"name": "get", "arguments": "{}"}),
        delta("function_call"),
        side="get{}",
        text="",
    ),
    _thought(
        "openai: refusal",
        delta(content=None, refusal="I can"),
        delta(refusal="not."),
        END,
        side="I cannot.",
        text="",
    ),
    Case(
        "lmstudio-bug-tracker#2339: tokens counted, none sent",
        (ROLE, END, USED, DONE),
        "",
        "",
        "counts 6 output tokens and sent none",
    ),
)

B = (
    _whole(
        "openai-python#1677, litellm#3811: choices without a delta",
        ROLE,
        ANSWER[0],
        choice({"content_filter_offsets": {"check_offset": 4}, "finish_reason": None}),
        *ANSWER[1:],
        choice({"finish_reason": "stop"}),
        USED,
        DONE,
    ),
    _whole(
        "agentUniverse#772, agent-framework#5734: a null delta at the end",
        ROLE,
        *ANSWER,
        choice({"delta": None, "finish_reason": "stop"}),
        DONE,
    ),
    _whole(
        "coddy-agent#106: empty data",
        b": ping\n\n",
        ROLE,
        b"data:\n\n",
        *ANSWER,
        b"data: \n\n",
        END,
        DONE,
    ),
    _whole(
        "freellmapi#156, gradio#11755: usage and keep-alives without choices",
        ROLE,
        bare(),
        *ANSWER,
        END,
        bare(usage=USAGE),
        DONE,
    ),
    _whole(
        "litellm#27969, node-chatgpt-api#486: empty choices first",
        bare(choices=[]),
        bare(choices=None),
        ROLE,
        *ANSWER,
        END,
        DONE,
    ),
    _whole(
        "moonshot: usage within the choice",
        ROLE,
        *ANSWER,
        choice({"delta": {}, "finish_reason": "stop", "usage": USAGE}),
        DONE,
    ),
    _whole(
        "the connection breaks behind finish_reason", ROLE, *ANSWER, END, b'data: {"id": "c", "cho'
    ),
    _whole("what cannot be read behind finish_reason", ROLE, *ANSWER, END, b"data: {no\n\n", DONE),
    _whole(
        "a proxy that does not stream: one message",
        event(
            {"choices": [{"message": {"content": "One two three"}, "finish_reason": "stop"}]}, b""
        ),
    ),
    _whole("data: null, other fields", b"retry: 3000\nid: 7\ndata: null\n\n", ROLE, *ANSWER, END),
    _whole("an event over two lines", ROLE, b'data: {"choices":\ndata: []}\n\n', *ANSWER, END),
)

C = (
    _failed(
        "vllm up to 0.9: a top-level object",
        *BEGUN,
        bare(object="error", message="EngineCore has an issue", type="InternalServerError"),
        DONE,
        says="EngineCore has an issue",
    ),
    _failed(
        "llama.cpp, coddy-agent#106: the field error",
        *BEGUN,
        event({"code": 500, "message": "the context is full"}, b"error: "),
        DONE,
        says="the context is full",
    ),
    _failed(
        "event: error without the key",
        *BEGUN,
        b"event: error\n",
        event({"message": "upstream timed out", "type": "timeout"}),
        says="upstream timed out",
    ),
    _failed(
        "event: error in plain words",
        *BEGUN,
        b"event: error\ndata: upstream timed out\n\n",
        says="upstream timed out",
    ),
    _failed(
        "local-operator#223: finish_reason alone",
        *BEGUN,
        delta("error"),
        DONE,
        says="finish_reason error",
    ),
    _failed(
        "vllm#57082: an engine that aborts and says [DONE]",
        *BEGUN,
        delta("abort"),
        DONE,
        says="finish_reason abort",
    ),
    _failed(
        "sglang: an object as finish_reason",
        *BEGUN,
        delta({"type": "abort", "message": "out of memory", "status_code": 503}),
        DONE,
        says="out of memory",
    ),
    _failed(
        "openrouter: the error of a choice",
        *BEGUN,
        choice({"delta": {}, "finish_reason": "error", "error": {"message": "provider is gone"}}),
        DONE,
        says="provider is gone",
    ),
    _failed("fastapi: detail", bare(detail="no such engine"), says="no such engine", text=""),
    _failed(
        "an error with status 200 that is no stream",
        b'{"error": {"message": "the key is spent"}}',
        says="the key is spent",
        text="",
    ),
    _failed(
        "sse.js#76: a sentence and then nothing",
        *BEGUN,
        bare(message="rate limit exceeded"),
        says="rate limit exceeded",
    ),
    _failed("nothing more", *BEGUN, says="cut it off"),
)

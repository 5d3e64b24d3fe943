"""One streamed chunk, checked and reduced to what specviz reads from it.

A chunk is one engine step, or several when the server merged them, and never "one token".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from specviz.errors import StreamBroken
from specviz.servers.dialect import Extras

ReadExtras = Callable[[Mapping[str, Any]], Extras]
"""`Dialect.read_extras`."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """`token_ids` is None where the server streams text only; `elapsed_ms` since the request.

    `spec` is what the chunk says about speculation, for `Dialect.counts`.
    """

    elapsed_ms: float
    text: str = ""
    token_ids: tuple[int, ...] | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    spec: object = None

    @property
    def is_output(self) -> bool:
        """Whether the chunk carries output; the role chunk and the usage chunk do not."""
        return bool(self.text if self.token_ids is None else self.token_ids)


def read_chunk(raw: Any, elapsed_ms: float, read_extras: ReadExtras) -> Chunk:
    """Read a chat chunk of the openai package. Raises StreamBroken for a malformed one."""
    try:
        data = raw.model_dump(mode="python", warnings="none")
    except (AttributeError, TypeError, ValueError):
        data = raw  # not what the package makes of a chunk: reported below
    return read_chunk_json(data, elapsed_ms, read_extras)


def read_chunk_json(data: Any, elapsed_ms: float, read_extras: ReadExtras) -> Chunk:
    """Read a chat chunk as it is in the stream. Raises StreamBroken for a malformed one."""
    try:
        return _read(data, elapsed_ms, read_extras(data))
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise StreamBroken(
            f"The server sent a chunk that is not OpenAI's streaming format ({error}); "
            "what arrived before it is kept."
        ) from error


def _read(data: dict[str, Any], elapsed_ms: float, extras: Extras) -> Chunk:
    usage = data.get("usage") or {}
    prompt_tokens, completion_tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not data["choices"]:
        return Chunk(
            elapsed_ms,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            spec=extras.spec,
        )
    choice = data["choices"][0]
    if not isinstance(choice.get("delta"), dict):
        raise TypeError("a choice without delta")
    text = choice["delta"].get("content") or ""
    if not isinstance(text, str):
        raise TypeError("delta.content is not text")
    return Chunk(
        elapsed_ms,
        text=text,
        token_ids=extras.token_ids,
        prompt_token_ids=extras.prompt_token_ids,
        finish_reason=choice.get("finish_reason"),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        spec=extras.spec,
    )

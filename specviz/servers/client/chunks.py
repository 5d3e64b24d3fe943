"""One streamed chunk, checked and reduced to what specviz reads from it.

A chunk is one engine step, or several when the server merged them, and never "one token".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from specviz.errors import StreamBroken


@dataclass(frozen=True, slots=True)
class SpecCounts:
    """vLLM's per-request counts (`--per-request-spec-decode-metrics detailed`).

    One entry per verification step in order; steps in which nothing was drafted have none.
    """

    per_step_accepted: tuple[int, ...]
    per_step_drafted: tuple[int, ...]
    num_spec_tokens: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """`token_ids` is None where the server streams text only; `elapsed_ms` since the request."""

    elapsed_ms: float
    text: str = ""
    token_ids: tuple[int, ...] | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    counts: SpecCounts | None = None

    @property
    def is_output(self) -> bool:
        """Whether the chunk carries output; the role chunk and the usage chunk do not."""
        return bool(self.text if self.token_ids is None else self.token_ids)


def read_chunk(raw: Any, elapsed_ms: float) -> Chunk:
    """Read a chat chunk of the openai package. Raises StreamBroken for a malformed one."""
    try:
        data = raw.model_dump(mode="python", warnings="none")
    except (AttributeError, TypeError, ValueError):
        data = raw  # not what the package makes of a chunk: said below
    return read_chunk_json(data, elapsed_ms)


def read_chunk_json(data: Any, elapsed_ms: float) -> Chunk:
    """Read a chat chunk as it stands in the stream. Raises StreamBroken for a malformed one."""
    try:
        return _read(data, elapsed_ms)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise StreamBroken(
            f"The server sent a chunk that is not OpenAI's streaming format ({error}); "
            "what arrived before it is kept."
        ) from error


def _read(data: dict[str, Any], elapsed_ms: float) -> Chunk:
    usage = data.get("usage") or {}
    counts = _read_counts(data.get("metrics"))
    prompt_tokens, completion_tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not data["choices"]:
        return Chunk(
            elapsed_ms,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            counts=counts,
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
        token_ids=_ids(choice.get("token_ids")),
        prompt_token_ids=_ids(data.get("prompt_token_ids")),
        finish_reason=choice.get("finish_reason"),
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        counts=counts,
    )


def _ids(value: Any) -> tuple[int, ...] | None:
    return None if value is None else tuple(map(int, value))


def _read_counts(metrics: dict[str, Any] | None) -> SpecCounts | None:
    speculative = (metrics or {}).get("speculative_decoding")
    if not speculative:
        return None
    accepted = tuple(int(count) for count in speculative.get("per_step_accepted") or ())
    drafted = tuple(int(count) for count in speculative.get("per_step_drafted") or ())
    if len(accepted) != len(drafted) or len(accepted) != speculative["num_spec_steps"]:
        return None  # the server runs with the summary only: totals, no steps
    return SpecCounts(accepted, drafted, int(speculative["num_spec_tokens"]))

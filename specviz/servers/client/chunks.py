"""One streamed chunk, checked and reduced to what specviz reads from it.

A chunk is one engine step, or several when the server merged them, and never "one token".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from specviz.errors import MalformedReply, StreamBroken
from specviz.servers import checked
from specviz.servers.client.steps.running import Totals, read_totals
from specviz.servers.dialect import Extras
from specviz.trace import SpecTotals

ReadExtras = Callable[[Mapping[str, Any]], Extras]
"""`Dialect.read_extras`."""


@dataclass(slots=True)
class Chunk:
    """`token_ids` is None where the server streams text only; `elapsed_ms` since the request.

    `completion_tokens` counts the answer so far. `output_ids` are those of the whole answer. `spec`
    is what the chunk says about speculation, for the dialect; `predicted` what OpenAI's own usage
    says about it; `totals` are those of the request up to and with this chunk, where the server
    sends them. `has_news`: it carries anything at all, also what specviz does not read. `problem`:
    what it says beyond the text is not believed, and why.
    """

    elapsed_ms: float
    text: str = ""
    token_ids: tuple[int, ...] | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    output_ids: tuple[int, ...] | None = None
    spec: object = None
    predicted: SpecTotals | None = None
    totals: Totals | None = None
    has_news: bool = False
    problem: str | None = None

    @property
    def is_output(self) -> bool:
        """Whether the chunk carries output; the role chunk and the usage chunk do not."""
        return bool(self.text or self.token_ids)


def read_chunk(data: object, elapsed_ms: float, read_extras: ReadExtras) -> Chunk:
    """Read a chat chunk as it is in the stream.

    Raises StreamBroken where it has no text to read. What comes with the text may be malformed:
    it is left out, and `Chunk.problem` says so.
    """
    try:
        body = checked.json_object(data, "a chunk")
        if "choices" not in body:
            raise MalformedReply("a chunk without choices")
        choices = checked.array(body["choices"] or [], "choices")
        choice = checked.json_object(choices[0], "a choice") if choices else {}
        delta = checked.json_object(choice.get("delta"), "delta") if choices else {}
        text = checked.text(delta.get("content") or "", "delta.content")
    except MalformedReply as error:
        raise StreamBroken(
            f"The server sent a chunk that is not OpenAI's streaming format ({error}); "
            "what arrived before it is kept."
        ) from error
    beyond = _Beyond(body if len(choices) < 2 else {**body, "choices": [choice]}, read_extras)
    finish_reason = beyond.read(checked.label, choice.get("finish_reason") or None, "finish_reason")
    extras = beyond.extras
    chunk = Chunk(
        elapsed_ms,
        text,
        beyond.read(checked.token_ids, extras.token_ids, "token_ids"),
        beyond.read(checked.token_ids, extras.prompt_token_ids, "prompt_token_ids"),
        finish_reason,
        output_ids=beyond.read(checked.token_ids, extras.output_ids, "output_ids"),
        spec=extras.spec,
        totals=beyond.read(read_totals, extras.totals, "running counts"),
        has_news=bool(text or finish_reason or extras.token_ids)
        or any(value for name, value in delta.items() if name != "role"),
    )
    if body.get("usage") is not None:  # in one chunk of a stream
        _take_usage(chunk, beyond, body["usage"])
    chunk.problem = beyond.problem
    return chunk


def _take_usage(chunk: Chunk, beyond: _Beyond, value: object) -> None:
    usage = beyond.read(checked.json_object, value, "usage") or {}
    chunk.prompt_tokens, chunk.completion_tokens = (
        beyond.read(checked.count, usage.get(name), name)
        for name in ("prompt_tokens", "completion_tokens")
    )
    name = "completion_tokens_details"
    chunk.predicted = beyond.read(predicted_tokens, usage.get(name), name)


def predicted_tokens(value: object, what: str) -> SpecTotals | None:
    """Drafted and accepted tokens in OpenAI's words: of a draft it says what was accepted and what
    was rejected.

    Zeros are what servers send that predict nothing. Raises MalformedReply.
    """
    details = checked.json_object(value, what)
    accepted, rejected = (
        checked.optional(checked.count, details.get(f"{verdict}_prediction_tokens"), verdict)
        for verdict in ("accepted", "rejected")
    )
    if not (accepted or rejected) or accepted is None or rejected is None:
        return None
    return SpecTotals(num_draft_tokens=accepted + rejected, num_accepted_tokens=accepted)


class _Beyond:
    """What a chunk says beyond its text. `problem` is the first thing that was malformed."""

    def __init__(self, body: dict[str, Any], read_extras: ReadExtras) -> None:
        self.problem: str | None = None
        self.extras = Extras()
        try:
            self.extras = read_extras(body)
        except (MalformedReply, AttributeError, KeyError, TypeError, ValueError) as error:
            self._note(error)

    def read(self, check: Callable[[Any, str], checked.T], value: object, name: str) -> Any:
        if value is None:
            return None
        try:
            return check(value, name)
        except MalformedReply as error:
            self._note(error)
            return None

    def _note(self, error: Exception) -> None:
        self.problem = self.problem or checked.excerpt(str(error))

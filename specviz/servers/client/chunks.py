"""One streamed chunk, checked and reduced to what specviz reads from it.

A chunk is one engine step, or several when the server merged them, and never "one token".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specviz.errors import MalformedReply, StreamBroken
from specviz.servers import checked
from specviz.servers.client.deltas import Piece, Starts, finish_of, joined, parts_of
from specviz.servers.client.steps.running import Totals, read_totals
from specviz.servers.dialect import Extras
from specviz.trace import Channel, SpecTotals

ReadExtras = Callable[[Mapping[str, Any]], Extras]
"""`Dialect.read_extras`."""


@dataclass(slots=True)
class Chunk:
    """`token_ids` is None where the server streams text only; `elapsed_ms` since the request.

    `completion_tokens` counts the answer so far. `output_ids` are those of the whole answer. `spec`
    is what the chunk says about speculation, for the dialect; `predicted` what OpenAI's own usage
    says about it; `totals` are those of the request up to and with this chunk, where the server
    sends them. `has_news`: it carries anything at all, also what specviz does not read. `problem`:
    what it says beyond the text is not believed, and why. `starts`: where in the text which kind of
    output begins, empty where all of it is the answer's. `failure`: the answer ended with an error.
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
    starts: Starts = ()
    failure: str | None = None

    @property
    def is_output(self) -> bool:
        """Whether the chunk carries output; the role chunk and the usage chunk do not."""
        return bool(self.text or self.token_ids)

    @property
    def pieces(self) -> list[Piece]:
        """The text by the kind of output."""
        if not self.starts:
            return [(self.text, Channel.ANSWER)]
        ends = [*(start for start, _ in self.starts[1:]), len(self.text)]
        return [
            (self.text[start:end], channel)
            for (start, channel), end in zip(self.starts, ends, strict=True)
        ]

    def named(self, texts: Sequence[str], names: Sequence[str]) -> list[Piece]:
        """`texts`, one part of the text per token, with the kind of each.

        A token that the server read as structure has no text: it gets its own, of `names`. The last
        chunk's token that ends the answer stays without, and part of a character, too.
        """
        structured = not self.finish_reason and bool(self.starts or not self.text)
        pieces, end = list[Piece](), 0
        for text, name in zip(texts, names, strict=True):
            channels = [channel for start, channel in self.starts if start <= end]
            end += len(text)
            if structured and not text and "\ufffd" not in name:
                pieces.append((name, Channel.MARKUP))
            else:
                pieces.append((text, channels[-1] if channels else Channel.ANSWER))
        return pieces


def read_chunk(
    body: dict[str, Any], elapsed_ms: float, read_extras: ReadExtras, *, is_first: bool = False
) -> Chunk:
    """Read a chat chunk as it is in the stream; one without choices or delta has no text.

    `is_first`: no output came before, so that a whole message in place of a delta is the answer.
    Raises StreamBroken if its text cannot be read. Malformed things beside the text are left out,
    and `Chunk.problem` says so.
    """
    try:
        choices = checked.array(body.get("choices") or [], "choices")
        choice = checked.json_object(next(filter(None, choices), {}), "a choice")
        delta = checked.json_object(_delta(choice, is_first=is_first), "delta")
        parts = parts_of(delta)
    except MalformedReply as error:
        raise not_a_chunk(error) from error
    text, starts = joined(parts)
    as_read = [choice] if choice else []
    beyond = _Beyond(body if choices == as_read else {**body, "choices": as_read}, read_extras)
    reason, failure = finish_of(choice.get("finish_reason") or delta.get("finish_reason"))
    finish_reason = beyond.read(checked.label, reason or body.get("finish_reason"), "finish_reason")
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
        starts=starts,
        failure=failure,
    )
    usage = body.get("usage") or choice.get("usage")
    if usage is not None:  # in one chunk of a stream
        _take_usage(chunk, beyond, usage)
    chunk.problem = beyond.problem
    return chunk


def not_a_chunk(error: MalformedReply) -> StreamBroken:
    return StreamBroken(
        f"The server sent a chunk that is not OpenAI's streaming format ({error}); "
        "what arrived before it is kept."
    )


def _delta(choice: dict[str, Any], *, is_first: bool) -> object:
    """The part of a choice that has its output: also a whole `message`, or completions' `text`."""
    if delta := choice.get("delta"):
        return delta
    if is_first and choice.get("message"):
        return choice["message"]
    text = None if "delta" in choice else choice.get("text")
    return {"content": text} if text else {}


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
        except (
            MalformedReply,
            AttributeError,
            KeyError,
            IndexError,
            TypeError,
            ValueError,
        ) as error:
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

"""The one reader of streamed answers: lines in, checked chunks out.

It is lenient with what carries no news (chunks without choices or delta, empty data, other fields)
and strict with reasons: an error is told in the server's own words, wherever it puts them.
"""

from __future__ import annotations

from collections.abc import Iterator

from specviz.errors import EngineError, MalformedReply, StreamBroken
from specviz.servers import checked
from specviz.servers.client.characters import Halves
from specviz.servers.client.chunks import Chunk, ReadExtras, not_a_chunk, read_chunk
from specviz.servers.client.failures import (
    NO_REASON,
    cut_off,
    error_in,
    not_json,
    reason_in,
    reported_error,
    sent_nothing,
)
from specviz.servers.client.sse import DONE, field_of


class AnswerReader:
    """Reads one answer. `done`: the server sent `[DONE]`. `is_whole`: it said why the answer ended,
    so whatever breaks behind that does the answer no harm."""

    def __init__(self, read_extras: ReadExtras) -> None:
        self.done = self.is_whole = False
        self._read_extras = read_extras
        self._halves = Halves()
        self._is_error = False  # the event is called one
        self._begun = b""  # JSON that goes on in the event's next line
        self._said: str | None = None  # by what is no chunk
        self._has_output = False
        self._counted = 0  # output tokens, by the server

    def take(self, line: bytes, elapsed_ms: float) -> Iterator[Chunk]:
        """The chunks that are complete with this line.

        Raises StreamBroken where the server reports an error or sends what cannot be a chunk.
        """
        name, value = field_of(line)
        if self.done:
            return
        if name == b"error" and value:
            raise self._failed(_said_in(value))
        if name == b"event":
            self._is_error = value == b"error"
        elif name == b"data" or (value and not name):
            self.done = value == DONE
            if value and not self.done:
                yield from self._chunks(value, elapsed_ms, is_data=name == b"data")
        elif not line.strip():
            self._is_error = False
            self._end_event()

    def rest(self, broken: EngineError | None = None) -> Iterator[Chunk]:
        """The chunks that are held back, once nothing follows; `broken`: what ended the stream.

        Raises it, or StreamBroken, unless the server said why the answer ended, and sent it.
        """
        yield from self._halves.rest()
        if not self.is_whole:
            if broken is None:
                self._end_event()
                broken = reported_error(self._said) if self._said else cut_off()
            raise broken
        if not self._has_output and self._counted > 1:  # the first may be the end of the text
            raise sent_nothing(self._counted)

    def _chunks(self, value: bytes, elapsed_ms: float, *, is_data: bool) -> Iterator[Chunk]:
        if self._is_error:
            raise self._failed(_said_in(value))
        try:
            body = checked.parsed(self._begun + value, "a chunk")
        except MalformedReply:
            self._begun += value if is_data else b""
            return
        self._begun = b""
        if body is None:
            return
        try:
            checked.json_object(body, "a chunk")
        except MalformedReply as error:
            raise not_a_chunk(error) from error
        if reason := error_in(body):
            raise self._failed(reason)
        if "choices" not in body:
            self._said = self._said or reason_in(body)
        first = not self._has_output
        chunk = read_chunk(body, elapsed_ms, self._read_extras, is_first=first)
        self.is_whole = self.is_whole or bool(chunk.finish_reason)
        self._has_output = self._has_output or chunk.is_output
        self._counted = chunk.completion_tokens or self._counted
        yield from self._halves.take(chunk)
        if chunk.failure:
            raise self._failed(self._said or chunk.failure)

    def _failed(self, reason: str) -> StreamBroken:
        self.is_whole = False
        return reported_error(reason)

    def _end_event(self) -> None:
        if self._begun:
            raise not_json()


def _said_in(value: bytes) -> str:
    """The sentence in the data of an error, which may be JSON or plain words."""
    try:
        return reason_in(checked.parsed(value, "an error")) or NO_REASON
    except MalformedReply:
        return checked.excerpt(value.decode(errors="replace")) or NO_REASON

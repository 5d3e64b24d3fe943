"""Characters that were streamed in two halves.

JSON writes an emoji as two escapes, `\\ud83d` and `\\ude00`, and a server may send the first in one
chunk and the second in the next.
"""

from __future__ import annotations

from dataclasses import replace

from specviz.servers.client.chunks import Chunk
from specviz.trace import whole


class Halves:
    """Holds a chunk that ends in the first half of a character back until the next text comes."""

    def __init__(self) -> None:
        # the first one ends in half a character, the rest have no text
        self._held: list[Chunk] = []

    def take(self, chunk: Chunk) -> list[Chunk]:
        """The chunks that are complete now; a character belongs to the one that completes it."""
        if not self._held and chunk.text.isascii():
            return [chunk]  # nearly always, and this runs for every chunk of a stream
        if self._held and not chunk.text:
            self._held.append(chunk)
            return []
        if self._held and "\udc00" <= chunk.text[0] <= "\udfff":
            first = self._held[0]
            chunk = replace(chunk, text=first.text[-1] + chunk.text)
            self._held[0] = replace(first, text=first.text[:-1])
        complete = self.rest()
        if "\ud800" <= chunk.text[-1:] <= "\udbff":
            self._held = [chunk]
            return complete
        return [*complete, _whole(chunk)]

    def rest(self) -> list[Chunk]:
        """What is held back, where nothing follows; half a character becomes U+FFFD."""
        held, self._held = self._held, []
        return [_whole(chunk) for chunk in held]


def _whole(chunk: Chunk) -> Chunk:
    """Nearly always the chunk itself: a copy of each would be a tenth of reading a stream."""
    text = whole(chunk.text)
    return chunk if text == chunk.text else replace(chunk, text=text)

"""Server-sent events out of the pieces in which they were read.

OpenAI-compatible servers send one line of JSON per event (`data: {…}`), then `data: [DONE]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from specviz.errors import MalformedReply

Read = tuple[float, bytes]
"""When something arrived (seconds of any clock) and what: pieces end anywhere."""

DONE = b"[DONE]"


def lines_of(reads: Sequence[Read]) -> Iterator[Read]:
    """Each line and when it was complete."""
    ends = list(accumulate(len(piece) for _, piece in reads))
    end = read = 0
    for line in b"".join(piece for _, piece in reads).splitlines(keepends=True):
        end += len(line)
        while ends[read] < end:
            read += 1
        yield reads[read][0], line


def field_of(line: bytes) -> tuple[bytes, bytes]:
    """The name of a line's field and its value, both empty for comments and between events.

    A line of JSON is taken for data: an answer that is no stream, as some proxies send errors.
    """
    if line.startswith(b"{"):
        return b"", line.strip()
    name, _, value = line.partition(b":")
    return name.strip(), value.strip()


class Lines:
    """Complete lines out of pieces that end anywhere, as they come."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._begun: list[bytes] = []  # of a line, not joined before it is complete
        self._size = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that `piece` completes. Raises MalformedReply for one that is too long."""
        self._size += len(piece)
        if b"\n" not in piece and b"\r" not in piece:
            self._begun.append(piece)
            complete = []
        else:
            *complete, rest = (b"".join([*self._begun, piece]) + b"|").splitlines()
            self._begun, self._size = [rest[:-1]], len(rest) - 1
        if self._size > self._longest or any(len(line) > self._longest for line in complete):
            raise MalformedReply(f"a line of more than {self._longest:,} bytes")
        return complete

    def rest(self) -> bytes:
        """What came behind the last complete line."""
        return b"".join(self._begun)

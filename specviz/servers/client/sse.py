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


def events(reads: Sequence[Read]) -> Iterator[Read]:
    """Each event's data and when its line was complete; comments and other fields are left out."""
    ends = list(accumulate(len(piece) for _, piece in reads))
    end = read = 0
    for line in b"".join(piece for _, piece in reads).splitlines(keepends=True):
        end += len(line)
        while ends[read] < end:
            read += 1
        data = data_of(line)
        if data is not None:
            yield reads[read][0], data


def data_of(line: bytes) -> bytes | None:
    """The data of an event's line; None for comments, other fields and what separates events."""
    return line[5:].strip() if line.startswith(b"data:") else None


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

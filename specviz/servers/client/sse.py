"""Server-sent events out of the pieces in which they were read.

OpenAI-compatible servers send one line of JSON per event (`data: {…}`), then `data: [DONE]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

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
        if line.startswith(b"data:"):
            yield reads[read][0], line[5:].strip()

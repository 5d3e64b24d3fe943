"""How much of one streamed answer is read, and how long silence may last."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from specviz.servers.client.chunks import Chunk
from specviz.servers.client.failures import too_long

MAX_LINE = 8 * 2**20
"""Bytes of one event. The ids of a prompt of a million tokens are one."""

CHUNKS_PER_TOKEN = 8
"""Of text without ids: some proxies send character by character."""


def most_bytes(max_tokens: int) -> int:
    """Of a whole stream: what every token's chunk may take, and the prompt's ids."""
    return 2 * MAX_LINE + 4096 * max_tokens


def most_tokens(max_tokens: int) -> int:
    """More is not read. Some servers know the limit under another name and go on for a while."""
    return 4 * max_tokens + 4096


def most_chunks(max_tokens: int) -> int:
    """Of a stream that is not read before it has ended; some carry nothing."""
    return CHUNKS_PER_TOKEN * max_tokens + 64


@dataclass(slots=True)
class StreamLimits:
    """Counts what one request received. Only a chunk that carries something puts the end of
    patience off, and only until `max_tokens` have come: what follows must end within that time."""

    max_tokens: int
    stall_timeout_s: float
    _bytes: int = 0
    _tokens: float = 0.0
    _sign_s: float = field(default_factory=time.perf_counter)

    def left_s(self) -> float:
        """Seconds until the server has been silent for too long."""
        return max(self._sign_s + self.stall_timeout_s - time.perf_counter(), 0.0)

    def take_bytes(self, size: int) -> None:
        """Raises StreamBroken where an answer of this many tokens cannot be so long."""
        self._bytes += size
        if self._bytes > most_bytes(self.max_tokens):
            raise too_long(self.max_tokens)

    def take(self, chunk: Chunk) -> None:
        """Raises StreamBroken where the server goes on far beyond what was asked for."""
        if chunk.has_news and self._tokens <= self.max_tokens:
            self._sign_s = time.perf_counter()
        ids = chunk.token_ids
        self._tokens += len(ids) if ids else bool(chunk.has_news) / CHUNKS_PER_TOKEN
        if self._tokens > most_tokens(self.max_tokens):
            raise too_long(self.max_tokens)

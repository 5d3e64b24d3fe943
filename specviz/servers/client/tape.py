"""The output of a request as it arrived, and the words for laying steps over it.

`TokenTape` has one entry per token with its text and arrival time. Steps are laid over it from the
plugin's records (`steps/traced.py`), the server's counts (`steps/counted.py`) or, without either,
the sizes of the chunks (`steps/inferred.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from specviz.servers.client.chunks import Chunk
from specviz.servers.client.deltas import Piece
from specviz.trace import Channel, EmittedToken, Origin, Verdict


@dataclass(frozen=True, slots=True)
class TapedToken:
    """One output token as received."""

    token_id: int | None
    text: str
    elapsed_ms: float
    channel: Channel


@dataclass(slots=True)
class TokenTape:
    """The output tokens in order, and where each chunk began."""

    tokens: list[TapedToken] = field(default_factory=list)
    chunk_sizes: list[int] = field(default_factory=list)

    def add(self, chunk: Chunk, pieces: Sequence[Piece]) -> None:
        """Append a chunk; `pieces` holds one part of its output per token."""
        ids: Sequence[int | None] = chunk.token_ids if chunk.token_ids else [None] * len(pieces)
        for token_id, (text, channel) in zip(ids, pieces, strict=True):
            self.tokens.append(TapedToken(token_id, text, chunk.elapsed_ms, channel))
        self.chunk_sizes.append(len(pieces))

    def emitted(self, start: int, origins: Sequence[Origin]) -> tuple[EmittedToken, ...]:
        """The tokens from `start` on with these origins, as far as they were received."""
        window = self.tokens[start : start + len(origins)]
        return tuple(
            EmittedToken(start + offset, token.token_id, token.text, origins[offset], token.channel)
            for offset, token in enumerate(window)
        )

    def ids(self, start: int, end: int) -> tuple[int | None, ...]:
        """The ids of these tokens, as far as they were received."""
        return tuple(token.token_id for token in self.tokens[start:end])

    def elapsed_ms(self, end: int) -> float:
        """When the token before position `end` arrived; 0.0 while nothing has."""
        last = min(end, len(self.tokens)) - 1
        return self.tokens[last].elapsed_ms if last >= 0 else 0.0


def origins_of_step(num_drafted: int, num_accepted: int) -> list[Origin]:
    """Origins of the tokens that one verification step emits."""
    if num_drafted == 0:
        return [Origin.TARGET]
    last = Origin.BONUS if num_accepted == num_drafted else Origin.RECOVERED
    return [Origin.ACCEPTED] * num_accepted + [last]


def verdict_at(index: int, num_accepted: int) -> Verdict:
    """Verdict of the draft token at `index` of a chain of which `num_accepted` were accepted."""
    if index < num_accepted:
        return Verdict.ACCEPTED
    return Verdict.REJECTED if index == num_accepted else Verdict.UNVERIFIED

"""The steps of a request while it streams, where every chunk has the request's totals."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from specviz.errors import MalformedReply
from specviz.servers.client.chunks import Chunk
from specviz.servers.client.deltas import Piece
from specviz.servers.client.steps.counted import counted_step
from specviz.servers.client.steps.running import (
    MAX_MERGED,
    UNREADABLE,
    CountedStep,
    RunningSteps,
)
from specviz.servers.client.tape import TokenTape
from specviz.trace import Channel, Step


class LiveCounts:
    """Lays every step over the tape as soon as it is certain and its tokens have come.

    `problem`: why the totals are not believed (any more); then there are no further steps.
    """

    def __init__(self, k: int | None) -> None:
        self.problem: str | None = None
        self._running = RunningSteps(k)
        self._waiting: deque[CountedStep] = deque()
        self._index = self._position = 0

    def take(self, chunk: Chunk, tape: TokenTape) -> Iterator[Step]:
        """The steps that are complete with this chunk, which is on the tape already."""
        if self.problem:
            return
        try:
            if chunk.totals:
                self._waiting += self._running.take(chunk.totals)
            if self._running.tokens != len(tape.tokens):
                counted = self._running.tokens
                missing = f"{len(tape.tokens)} tokens came where it counts {counted}"
                raise MalformedReply(chunk.problem or missing)
        except MalformedReply as error:
            self._give_up(error, tape)
        yield from self._laid(tape)

    def finish(self, tape: TokenTape) -> Iterator[Step]:
        """The last step, which may have been cut short."""
        try:
            self._waiting += self._running.finish()
        except MalformedReply as error:
            self._give_up(error, tape)
        yield from self._laid(tape)

    def _give_up(self, error: MalformedReply, tape: TokenTape) -> None:
        """Leave only what is certain: a step that had begun, where totals fit several rows."""
        self.problem = str(error)
        ambiguous = self.problem == UNREADABLE and self._running.tokens == len(tape.tokens)
        self._waiting = deque(self._running.begun if ambiguous else ())

    def _laid(self, tape: TokenTape) -> Iterator[Step]:
        while self._waiting:
            step = self._waiting.popleft()
            yield counted_step(step.drafted, step.accepted, self._index, self._position, tape)
            self._index += 1
            self._position += step.emitted


def in_tokens(pieces: Sequence[Piece], chunk: Chunk, before: int) -> list[Piece]:
    """A chunk's output as one part per token, where the server counts tokens and sends no ids.

    What it held back came without a text of its own: the text is the last token's. Tokens without
    any text, such as the one that ends the answer, are empty. `before`: how many had come.
    """
    if chunk.totals is None or chunk.token_ids is not None:
        return list(pieces)
    silent = chunk.totals.tokens - before - len(pieces)
    if not 0 < silent < MAX_MERGED:
        return list(pieces)
    channel = pieces[0][1] if pieces else Channel.ANSWER
    return [*[("", channel)] * silent, *pieces]

"""One request in flight: the answer and the plugin's records, merged into steps as they arrive.

The modules of `steps/` do the labelling. Tokens are counted by id, never by chunk.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Protocol

from specviz.config import Prompt, Sampling
from specviz.errors import MalformedReply
from specviz.methods import Method, record_of
from specviz.servers.checked import excerpt
from specviz.servers.client.arrivals import Arrivals
from specviz.servers.client.chunks import Chunk
from specviz.servers.client.deltas import Piece
from specviz.servers.client.late_ids import with_ids
from specviz.servers.client.limits import most_tokens
from specviz.servers.client.probe import FoundServer
from specviz.servers.client.reported import counts_of, totals_of
from specviz.servers.client.steps.counted import counted_steps
from specviz.servers.client.steps.inferred import inferred_steps
from specviz.servers.client.steps.live import LiveCounts, in_tokens
from specviz.servers.client.steps.running import UNREADABLE
from specviz.servers.client.steps.traced import traced_step
from specviz.servers.client.tape import TokenTape
from specviz.servers.trace_record import TraceRecord
from specviz.trace import (
    Event,
    Fidelity,
    Origin,
    RequestFinished,
    RequestStarted,
    SpecTotals,
    Step,
    StepsRevised,
)


class AnswerSource(Protocol):
    """The server as one request needs it.

    `method` and `k` are what it drafts with as far as known; `traced`: it is asked for a trace.
    """

    server: FoundServer
    method: Method | None
    k: int | None
    traced: bool

    def chunks(
        self, prompt: Prompt, sampling: Sampling, request_id: str, clock: Callable[[], float]
    ) -> AsyncIterator[Chunk]:
        """The answer as checked chunks. Raises an EngineError in the user's words."""
        ...

    def records(self, request_id: str) -> AsyncIterator[TraceRecord]:
        """The plugin's records of a request, as they are written, checked."""
        ...

    async def pieces(self, chunk: Chunk) -> list[Piece]:
        """The output of a chunk cut into one part per token."""
        ...

    async def decision_texts(self, record: TraceRecord) -> Callable[[int], str]:
        """A function from token id to text that knows every id of the record."""
        ...


class RequestInFlight:
    """One request in flight: the tape of what arrived and the steps laid over it."""

    def __init__(self, source: AnswerSource, prompt: Prompt, sampling: Sampling) -> None:
        self.source = source
        self.prompt = prompt
        self.sampling = sampling
        self.request_id = source.server.dialect.request_id()
        self.tape = TokenTape()
        self.position = 0  # first token on the tape without a step
        self.index = 0  # of the next step
        self.chunk = 0  # first chunk without a step
        self.records: deque[TraceRecord] = deque()  # those without a step
        self.trace_problem: str | None = None  # that it has besides those of its own reader
        self.problem: str | None = None  # what chunks say beyond the text and is not believed
        self.prompt_token_ids: tuple[int, ...] = ()
        self.finish_reason: str | None = None
        self.spec: list[object] = []  # what the chunks say about speculation
        self.predicted: SpecTotals | None = None  # what OpenAI's usage says about it
        self.totals: SpecTotals | None = None
        self.unnamed: list[Chunk] = []  # text without ids
        self.output_ids: tuple[int, ...] = ()  # of the whole answer, where they come with its end
        self.completion_tokens: int | None = None
        self.ended_ms = 0.0
        self.fidelity = Fidelity.INFERRED
        counted = source.server.capabilities.counts_tokens and not source.traced
        self.counts = LiveCounts(source.k) if counted else None  # None: they are not believed
        self.counted: list[Step] = []  # by the running totals
        self.arrivals: Arrivals | None = None  # once it is sent
        self._started = time.perf_counter()

    def clock(self) -> float:
        """Milliseconds since the request was sent."""
        return round((time.perf_counter() - self._started) * 1000, 3)  # noise below microseconds

    async def events(self) -> AsyncIterator[Event]:
        traced = self.source.traced
        expected = self.source.server.capabilities.expected_fidelity
        fidelity = Fidelity.TRACED if traced else expected
        if fidelity is Fidelity.TRACED and not traced:
            fidelity = Fidelity.INFERRED  # the plugin is there, but was not asked
        self.fidelity = fidelity
        yield RequestStarted(self.request_id, fidelity)
        self.arrivals = self._start(traced)
        try:
            async with aclosing(self._steps(self.arrivals, traced)) as steps:
                async for step in steps:
                    yield step
        except (Exception, asyncio.CancelledError):
            if self.position < len(self.tape.tokens):
                yield self._unlabelled()
            raise
        named = await self._name_tokens()
        if self.counts:
            for event in self._counted(self.counts.finish(self.tape), self.counts):
                yield event
        revised = None if self.counts else self._revise(traced, named=named)
        if revised is not None:
            self.fidelity = revised.fidelity
            yield revised
        yield self._finished()

    async def _steps(
        self, arrivals: Arrivals, traced: bool
    ) -> AsyncGenerator[Step | StepsRevised, None]:
        async for item in arrivals.items(self._lacks_records):
            if isinstance(item, Chunk):
                await self._take_chunk(item)
            else:
                self.records.append(item)
            if self.counts and isinstance(item, Chunk):
                for event in self._counted(self.counts.take(item, self.tape), self.counts):
                    yield event
                continue
            async for step in self._traced_steps() if traced else self._inferred_steps():
                yield step

    def _counted(self, steps: Iterator[Step], counts: LiveCounts) -> Iterator[Step | StepsRevised]:
        """Steps by the running totals; by the sizes of chunks where those fail.

        Totals that are untrue are not believed for any step. Where they fit several rows of steps,
        those before are certain and stay, and what came since has no label.
        """
        for step in steps:
            self.index += 1
            self.position += len(step.emitted)
            self.counted.append(step)
            yield step
        if counts.problem is None:
            return
        self.counts, self.fidelity = None, Fidelity.INFERRED
        if counts.problem != UNREADABLE:
            reason = f"the server's counts cannot be used: {counts.problem}; "
            yield self._inferred_again(Fidelity.INFERRED, reason)
            return
        reason = (
            f"from token {self.position + 1} on the server's counts fit more than one row of "
            "steps; chunk sizes from there"
        )
        kept = (*self.counted, self._unlabelled())
        self.index, self.position = len(kept), len(self.tape.tokens)
        self.chunk = len(self.tape.chunk_sizes)
        yield StepsRevised(kept, Fidelity.INFERRED, reason)

    def _unlabelled(self) -> Step:
        """What arrived before the answer broke off and no step has yet."""
        missing = len(self.tape.tokens) - self.position
        emitted = self.tape.emitted(self.position, [Origin.UNKNOWN] * missing)
        return Step(self.index, self.tape.elapsed_ms(self.position + missing), (), emitted)

    async def cancel(self) -> None:
        """Stop reading; see `Arrivals.cancel`."""
        if self.arrivals is not None:
            await self.arrivals.cancel()

    def _start(self, traced: bool) -> Arrivals:
        self._started = time.perf_counter()
        return Arrivals(
            self.source.chunks(self.prompt, self.sampling, self.request_id, self.clock),
            self.source.records(self.request_id) if traced else None,
            most_tokens(self.sampling.max_tokens),
        )

    async def _take_chunk(self, chunk: Chunk) -> None:
        self.prompt_token_ids = chunk.prompt_token_ids or self.prompt_token_ids
        self.finish_reason = chunk.finish_reason or self.finish_reason
        self.problem = self.problem or chunk.problem
        self.predicted = chunk.predicted or self.predicted
        self.output_ids = chunk.output_ids or self.output_ids
        self.completion_tokens = chunk.completion_tokens or self.completion_tokens
        if chunk.spec is not None:
            self.spec.append(chunk.spec)
        if chunk.finish_reason:
            self.ended_ms = chunk.elapsed_ms
        pieces = await self.source.pieces(chunk) if chunk.is_output else []
        if pieces := in_tokens(pieces, chunk, len(self.tape.tokens)):
            self.tape.add(chunk, pieces)
            if chunk.token_ids is None:
                self.unnamed.append(chunk)

    async def _name_tokens(self) -> bool:
        """Give the tokens their ids where those came with the end; whether they did."""
        if not 0 < len(self.output_ids) <= most_tokens(self.sampling.max_tokens):
            return False
        if len(self.unnamed) < len(self.tape.chunk_sizes):
            return False  # some came with their ids
        chunks = with_ids(self.unnamed, self.output_ids, self.completion_tokens, self.ended_ms)
        if chunks is None:
            return False
        self.tape = TokenTape()
        for chunk in chunks:
            self.tape.add(chunk, await self.source.pieces(chunk))
        return True

    async def _traced_steps(self) -> AsyncIterator[Step]:
        """Steps whose record and tokens have both arrived (the last may be cut short)."""
        while self.records and self._lacks_records():
            record = self.records[0]
            end = self.position + len(record.emitted)
            if end > len(self.tape.tokens) and self.finish_reason is None:
                return
            streamed = self.tape.ids(self.position, end)
            if streamed != record.emitted[: len(streamed)]:
                self.trace_problem = "it names other tokens than were streamed"
                return
            self.records.popleft()
            text_of = await self.source.decision_texts(record)
            yield traced_step(record, self.index, self.position, self.tape, text_of)
            self.index += 1
            self.position = min(end, len(self.tape.tokens))

    async def _inferred_steps(self) -> AsyncIterator[Step]:
        for step in self._infer(self.chunk):
            yield step
        self.chunk = len(self.tape.chunk_sizes)

    def _infer(self, first_chunk: int) -> Iterator[Step]:
        """Steps of the chunks from `first_chunk` on, by their sizes."""
        for chunk in range(first_chunk, len(self.tape.chunk_sizes)):
            steps = inferred_steps(
                self.tape, chunk, self.index, self.position, self.source.method, self.source.k
            )
            self.index += len(steps)
            self.position += self.tape.chunk_sizes[chunk]
            yield from steps

    def _revise(self, traced: bool, *, named: bool) -> StepsRevised | None:
        """The steps that the finished stream shows better than its chunks did.

        `named`: the tokens got their ids at the end.
        """
        if traced and not self._trace_problem() and self.position == len(self.tape.tokens):
            return None
        reason = "token ids came with the end; " if named else ""
        if self.source.method is Method.BASELINE and not traced:
            return self._inferred_again(self.fidelity, reason) if named else None
        reason += f"{self.problem}; " if self.problem else ""
        if traced and (problem := self._trace_problem()):
            reason += f"the trace cannot be true: {problem}; "
        elif traced:
            reason += "the trace did not cover the whole answer; "
        server = self.source.server
        try:
            counts = counts_of(self.spec, server.dialect, server.capabilities)
        except (MalformedReply, TypeError, ValueError) as error:
            counts = None
            reason += f"the server's counts cannot be true: {excerpt(str(error))}; "
        if counts is not None:
            record = record_of(self.source.method)
            always = record is not None and not record.is_lookup
            steps = counted_steps(self.tape, counts, always_drafts=always)
            if steps is not None:
                return StepsRevised(steps, Fidelity.COUNTED, reason + "counts of the server")
            reason += "the server's counts do not fit its chunks; "
        try:
            self.totals = totals_of(self.spec, self.predicted, server.dialect, server.capabilities)
        except (MalformedReply, TypeError, ValueError) as error:
            reason += f"the server's totals cannot be true: {excerpt(str(error))}; "
        return self._inferred_again(Fidelity.INFERRED, reason) if reason else None

    def _inferred_again(self, fidelity: Fidelity, reason: str) -> StepsRevised:
        """All steps so far by the sizes of the chunks. `reason` ends in `; `."""
        self.index = self.position = 0
        steps, self.chunk = tuple(self._infer(0)), len(self.tape.chunk_sizes)
        return StepsRevised(steps, fidelity, reason + "chunk sizes")

    def _trace_problem(self) -> str | None:
        """Why the trace is not believed; None while it is."""
        return self.trace_problem or (self.arrivals.problem if self.arrivals else None)

    def _lacks_records(self) -> bool:
        return not self._trace_problem() and self.position < len(self.tape.tokens)

    def _finished(self) -> RequestFinished:
        tokens = self.tape.tokens
        return RequestFinished(
            self.prompt_token_ids,
            ttft_ms=tokens[0].elapsed_ms if tokens else None,
            e2el_ms=tokens[-1].elapsed_ms if tokens else self.clock(),
            finish_reason=self.finish_reason or "",
            totals=self.totals,
        )

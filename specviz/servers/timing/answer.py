"""The answer in a stream that was only collected while it ran: chunks, counts, `Sample`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from specviz.errors import EngineError, MalformedReply, StreamBroken
from specviz.sample import Sample
from specviz.servers.capabilities import Capabilities
from specviz.servers.client.chunks import Chunk
from specviz.servers.client.deltas import Piece, text_of
from specviz.servers.client.failures import too_long
from specviz.servers.client.late_ids import with_ids
from specviz.servers.client.limits import most_chunks
from specviz.servers.client.reader import AnswerReader
from specviz.servers.client.reported import counts_of, totals_of
from specviz.servers.client.sse import Read, lines_of
from specviz.servers.client.steps.running import MAX_MERGED, Totals, steps_counted
from specviz.servers.dialect import Dialect, SpecCounts
from specviz.trace import Fidelity, SpecTotals


@dataclass(slots=True)
class Answer:
    """A stream as read: `chunks` are those with tokens, `pieces` all text by its kind.

    The answer's own text began at `ttfo_ms`; `finish_reason` is why it ended, at `finished_ms`.
    """

    chunks: list[Chunk] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    ttfo_ms: float | None = None
    finish_reason: str | None = None
    finished_ms: float = 0.0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    counts: SpecCounts | None = None
    totals: SpecTotals | None = None


def read_answer(
    reads: Sequence[Read],
    sent_s: float,
    dialect: Dialect,
    capabilities: Capabilities | None = None,
    k: int | None = None,
    broken: EngineError | None = None,
) -> Answer:
    """Read what arrived of a stream; times count from `sent_s`, `k` bounds a draft.

    Raises what the live client's reader raises, and `broken`, which ended the stream, where the
    answer was not whole by then.
    """
    answer, spec, running = Answer(), list[object](), list[Totals]()
    capabilities = capabilities or Capabilities()
    predicted: SpecTotals | None = None
    output_ids: tuple[int, ...] = ()
    for chunk in _chunks(reads, sent_s, dialect, broken):
        _take(answer, chunk)
        if chunk.spec is not None:
            spec.append(chunk.spec)
        if chunk.totals is not None:
            running.append(chunk.totals)
        predicted = chunk.predicted or predicted
        output_ids = chunk.output_ids or output_ids
    if output_ids and all(chunk.token_ids is None for chunk in answer.chunks):
        named = with_ids(answer.chunks, output_ids, answer.completion_tokens, answer.finished_ms)
        answer.chunks = named or answer.chunks
    answer.counts = _counts(answer, spec, running, dialect, capabilities, k)
    if answer.counts is None:
        answer.totals = _totals(spec, predicted, dialect, capabilities)
    return answer


def _chunks(
    reads: Sequence[Read], sent_s: float, dialect: Dialect, broken: EngineError | None
) -> Iterator[Chunk]:
    reader = AnswerReader(dialect.read_extras)
    try:
        for arrived_s, line in lines_of(reads):
            yield from reader.take(line, (arrived_s - sent_s) * 1000)
    except StreamBroken as error:
        broken = error
    yield from reader.rest(broken)


def last_news_s(reads: Sequence[Read], sent_s: float, max_tokens: int, dialect: Dialect) -> float:
    """When the last chunk arrived that carries anything, `sent_s` before the first one.

    Raises StreamBroken where far more chunks came than an answer of `max_tokens` has.
    """
    if sum(piece.count(b"data:") for _, piece in reads) > most_chunks(max_tokens):
        raise too_long(max_tokens)
    size = 8
    while True:
        for arrived_s, line in reversed(list(lines_of(reads[-size:]))):  # the first may be cut
            if _has_news(line, dialect):
                return arrived_s
        if size >= len(reads):
            return sent_s
        size *= 8


def _has_news(line: bytes, dialect: Dialect) -> bool:
    reader = AnswerReader(dialect.read_extras)
    try:
        return any(chunk.has_news for chunk in reader.take(line, 0.0)) or reader.done
    except StreamBroken:
        return False


def _counts(
    answer: Answer,
    spec: list[object],
    running: list[Totals],
    dialect: Dialect,
    capabilities: Capabilities,
    k: int | None,
) -> SpecCounts | None:
    """The server's counts, None where they cannot be of this answer."""
    everywhere = all(chunk.totals is not None for chunk in answer.chunks)
    try:
        counts = counts_of(spec, dialect, capabilities)
        if counts is None and everywhere:
            counts = steps_counted(running, k)
    except (MalformedReply, TypeError, ValueError):
        return None
    have_ids = all(chunk.token_ids is not None for chunk in answer.chunks)
    tokens = sum(len(chunk.token_ids or ()) for chunk in answer.chunks)
    if counts is None or (have_ids and not counts.fit(tokens)):
        return None
    return counts


def _totals(
    spec: list[object], predicted: SpecTotals | None, dialect: Dialect, capabilities: Capabilities
) -> SpecTotals | None:
    try:
        return totals_of(spec, predicted, dialect, capabilities)
    except (MalformedReply, TypeError, ValueError):
        return None


def sample_of(answer: Answer, request_id: str, *, speculates: bool | None) -> Sample:
    """A finished answer as a sample. `speculates` None: the server does not say.

    Without any output the times are those of the answer's end.
    """
    chunks, counts = answer.chunks, answer.counts
    counted = counts is not None or speculates is False
    ids = [chunk.token_ids for chunk in chunks if chunk.token_ids is not None]
    if len(ids) < len(chunks):
        ids = []  # text without ids
    token_ids = tuple(token_id for chunk_ids in ids for token_id in chunk_ids)
    return Sample(
        request_id=request_id,
        fidelity=Fidelity.COUNTED if counted else Fidelity.INFERRED,
        text=text_of(answer.pieces),
        side_text=text_of(answer.pieces, beside=True),
        ttfo_ms=answer.ttfo_ms,
        finish_reason=answer.finish_reason or "",
        ttft_ms=chunks[0].elapsed_ms if chunks else answer.finished_ms,
        e2el_ms=chunks[-1].elapsed_ms if chunks else answer.finished_ms,
        chunk_ms=tuple([chunk.elapsed_ms for chunk in chunks]),
        chunk_tokens=tuple([len(chunk_ids) for chunk_ids in ids]) or _counted_tokens(chunks),
        token_ids=token_ids,
        output_tokens=answer.completion_tokens if not ids else len(token_ids),
        prompt_tokens=answer.prompt_tokens,
        per_step_accepted=counts.per_step_accepted if counts else () if counted else None,
        per_step_drafted=counts.per_step_drafted if counts else () if counted else None,
        totals=None if counted else answer.totals,
    )


def _counted_tokens(chunks: Sequence[Chunk]) -> tuple[int, ...]:
    """Tokens per chunk by the request's totals; empty where those are not to be believed."""
    totals = [chunk.totals.tokens for chunk in chunks if chunk.totals is not None]
    sizes = tuple([now - before for before, now in pairwise([0, *totals])])
    believed = len(sizes) == len(chunks) and all(0 < size <= MAX_MERGED for size in sizes)
    return sizes if believed else ()


def _take(answer: Answer, chunk: Chunk) -> None:
    if chunk.text:
        answer.pieces += chunk.pieces
        if answer.ttfo_ms is None and text_of(chunk.pieces):
            answer.ttfo_ms = chunk.elapsed_ms
    if chunk.text if chunk.token_ids is None else chunk.token_ids:
        answer.chunks.append(chunk)
    if chunk.finish_reason:
        answer.finish_reason, answer.finished_ms = chunk.finish_reason, chunk.elapsed_ms
    answer.prompt_tokens = chunk.prompt_tokens or answer.prompt_tokens
    answer.completion_tokens = chunk.completion_tokens or answer.completion_tokens

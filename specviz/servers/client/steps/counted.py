"""Steps from the counts that a server reports for a request.

The counts list the verification steps in order; a step that drafted nothing (the prompt's own,
an n-gram miss) is not in them. A method that always drafts is therefore labelled exactly, also
when chunks were merged. For a lookup method a chunk of one token may be a miss or a rejected
draft: where the counts leave only one reading it is used, elsewhere the token stays `unknown` and
the rejected drafts get separate steps that emit nothing, so that the sums stay exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from specviz.servers.client.tape import TokenTape, origins_of_step, verdict_at
from specviz.servers.dialect import SpecCounts
from specviz.trace import ROOT, Origin, Step, TokenDecision


@dataclass(frozen=True, slots=True)
class _Span:
    """A step before it is laid over the tape: how many tokens, of what origin, from what draft."""

    origins: tuple[Origin, ...]
    drafted: int = 0
    accepted: int = 0


def counted_steps(
    tape: TokenTape, counts: SpecCounts, *, always_drafts: bool
) -> tuple[Step, ...] | None:
    """The steps of a finished request, or None if the counts do not fit what was streamed."""
    entries = list(zip(counts.per_step_drafted, counts.per_step_accepted, strict=True))
    spans = _always(tape, entries) if always_drafts else _lookup(tape, entries)
    return None if spans is None else tuple(_lay(spans, tape))


def _always(tape: TokenTape, entries: Sequence[tuple[int, int]]) -> list[_Span] | None:
    spans = [_Span((Origin.TARGET,)), *(_judged(*entry) for entry in entries)]
    produced = sum(len(span.origins) for span in spans)
    last = len(spans[-1].origins)
    # a stop condition may cut the last step short, and only the last
    fits = produced - last < len(tape.tokens) <= produced or (not entries and not tape.tokens)
    return spans if fits else None


def _lookup(tape: TokenTape, entries: Sequence[tuple[int, int]]) -> list[_Span] | None:
    """Align chunks with entries between the chunks of several tokens, which must be drafts."""
    spans = [_Span((Origin.TARGET,))] if tape.chunk_sizes else []
    if tape.chunk_sizes and tape.chunk_sizes[0] != 1:
        return None
    remaining = list(entries)
    singles = 0
    last_chunk = len(tape.chunk_sizes) - 1
    for index, size in enumerate(tape.chunk_sizes[1:], start=1):
        if size == 1 and not (index == last_chunk and _ends_on_cut_step(remaining)):
            singles += 1
            continue
        misses = _take_rejected(remaining)
        spans += _resolve(singles, misses)
        singles = 0
        if not remaining or not _fits(size, remaining[0], cut=index == last_chunk):
            return None
        spans.append(_judged(*remaining.pop(0)))
    misses = _take_rejected(remaining)
    if remaining or len(misses) > singles:
        return None
    return [*spans, *_resolve(singles, misses)]


def _ends_on_cut_step(remaining: Sequence[tuple[int, int]]) -> bool:
    """Whether an accepted draft is still due when only the last chunk, of one token, is left."""
    return any(accepted for _, accepted in remaining)


def _fits(size: int, entry: tuple[int, int], *, cut: bool) -> bool:
    emitted = entry[1] + 1
    return size <= emitted if cut else size == emitted


def _take_rejected(remaining: list[tuple[int, int]]) -> list[tuple[int, int]]:
    taken = []
    while remaining and remaining[0][1] == 0:
        taken.append(remaining.pop(0))
    return taken


def _resolve(singles: int, misses: Sequence[tuple[int, int]]) -> list[_Span]:
    """`singles` chunks of one token, `misses` drafts rejected at once somewhere among them."""
    if len(misses) == singles:
        return [_judged(*entry) for entry in misses]
    if not misses:
        return [_Span((Origin.TARGET,))] * singles
    unplaced = [replace(_judged(*entry), origins=()) for entry in misses]
    return [*unplaced, *[_Span((Origin.UNKNOWN,))] * singles]


def _judged(drafted: int, accepted: int) -> _Span:
    return _Span(tuple(origins_of_step(drafted, accepted)), drafted, accepted)


def _lay(spans: Sequence[_Span], tape: TokenTape) -> Iterator[Step]:
    start = 0
    for index, span in enumerate(spans):
        yield _step(span, index, start, tape)
        start += len(span.origins)


def counted_step(drafted: int, accepted: int, index: int, start: int, tape: TokenTape) -> Step:
    """One step, laid over the tape from position `start`, as far as its tokens have come."""
    return _step(_judged(drafted, accepted), index, start, tape)


def _step(span: _Span, index: int, start: int, tape: TokenTape) -> Step:
    emitted = tape.emitted(start, span.origins)
    drafted = tuple(
        TokenDecision(
            depth=position + 1,
            parent=position - 1 if position else ROOT,
            # an accepted token is the one that was emitted; a rejected one is not named
            token_id=emitted[position].token_id if _named(position, span, emitted) else None,
            text=emitted[position].text if _named(position, span, emitted) else None,
            verdict=verdict_at(position, span.accepted),
        )
        for position in range(span.drafted)
    )
    return Step(index, tape.elapsed_ms(start + len(span.origins)), drafted, emitted)


def _named(position: int, span: _Span, emitted: Sequence[object]) -> bool:
    return position < span.accepted and position < len(emitted)

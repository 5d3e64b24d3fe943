"""The answer in a stream that was only collected while it ran: chunks, counts, `Sample`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from specviz.sample import Sample
from specviz.servers.client.chunks import Chunk, read_chunk_json
from specviz.servers.client.failures import not_json, reason_in, reported_error
from specviz.servers.client.sse import DONE, Read, events
from specviz.servers.dialect import Dialect, SpecCounts
from specviz.trace import Fidelity


@dataclass(slots=True)
class Answer:
    """A stream as read. `chunks` are those with output; `done`: the server sent `[DONE]`.

    `finish_reason` is None until the server reports why the answer ended, at `finished_ms`.
    """

    chunks: list[Chunk] = field(default_factory=list)
    finish_reason: str | None = None
    finished_ms: float = 0.0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    counts: SpecCounts | None = None
    done: bool = False


def read_answer(reads: Sequence[Read], sent_s: float, dialect: Dialect) -> Answer:
    """Read what arrived of a stream; times count from `sent_s`.

    Raises StreamBroken where the server reported an error or sent what is not a chunk.
    """
    answer, spec = Answer(), list[object]()
    for arrived_s, data in events(reads):
        if data == DONE:
            answer.done = True
            break
        elapsed_ms = (arrived_s - sent_s) * 1000
        chunk = read_chunk_json(_parse(data), elapsed_ms, dialect.read_extras)
        _take(answer, chunk)
        if chunk.spec is not None:
            spec.append(chunk.spec)
    answer.counts = dialect.counts(spec)
    return answer


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
        text="".join([chunk.text for chunk in chunks]),
        finish_reason=answer.finish_reason or "",
        ttft_ms=chunks[0].elapsed_ms if chunks else answer.finished_ms,
        e2el_ms=chunks[-1].elapsed_ms if chunks else answer.finished_ms,
        chunk_ms=tuple([chunk.elapsed_ms for chunk in chunks]),
        chunk_tokens=tuple([len(chunk_ids) for chunk_ids in ids]),
        token_ids=token_ids,
        output_tokens=answer.completion_tokens if not ids else len(token_ids),
        prompt_tokens=answer.prompt_tokens,
        per_step_accepted=counts.per_step_accepted if counts else () if counted else None,
        per_step_drafted=counts.per_step_drafted if counts else () if counted else None,
    )


def _parse(data: bytes) -> object:
    try:
        value = json.loads(data)
    except ValueError:
        raise not_json() from None
    if isinstance(value, dict) and value.get("error"):
        raise reported_error(reason_in(value) or "no reason given")
    return value


def _take(answer: Answer, chunk: Chunk) -> None:
    if chunk.is_output:
        answer.chunks.append(chunk)
    if chunk.finish_reason:
        answer.finish_reason, answer.finished_ms = chunk.finish_reason, chunk.elapsed_ms
    answer.prompt_tokens = chunk.prompt_tokens or answer.prompt_tokens
    answer.completion_tokens = chunk.completion_tokens or answer.completion_tokens

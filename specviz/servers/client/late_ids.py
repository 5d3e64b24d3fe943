"""Token ids that come with the end of an answer, given to the chunks that carried the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specviz.servers.client.chunks import Chunk


def with_ids(
    chunks: Sequence[Chunk], output_ids: Sequence[int], tokens: int | None, ended_ms: float
) -> list[Chunk] | None:
    """The chunks of an answer that carry text, each with its ids.

    Each must say how many tokens the answer has so far; it has `tokens` at its end, `ended_ms`. Ids
    behind the last text, such as the end of the text, are a chunk without any. None where the
    counts do not divide the ids.
    """
    if tokens != len(output_ids):
        return None
    named, start = list[Chunk](), 0
    for chunk in chunks:
        end = chunk.completion_tokens
        if end is None or not start < end <= len(output_ids):
            return None
        named.append(replace(chunk, token_ids=tuple(output_ids[start:end])))
        start = end
    if start < len(output_ids):
        named.append(Chunk(ended_ms, token_ids=tuple(output_ids[start:])))
    return named

"""Steps guessed from the sizes of chunks, where the server reports nothing about drafts."""

from __future__ import annotations

from specviz.methods import Method
from specviz.servers.client.tape import TokenTape
from specviz.trace import Origin, Step


def inferred_steps(
    tape: TokenTape, chunk: int, index: int, start: int, method: Method | None, k: int | None
) -> list[Step]:
    """The steps guessed from the size of one chunk; drafts are not known, so none are shown.

    `chunk` counts the chunks, `index` is the first step's, `start` the chunk's first token. Plain
    decoding makes one step of every token. Otherwise, of n > 1 tokens with ids the first n - 1
    were most likely accepted; a chunk of more than K + 1 tokens is certainly several steps merged,
    and text without ids has no size at all.
    """
    size = tape.chunk_sizes[chunk]
    if method is Method.BASELINE:
        spans = [[Origin.TARGET]] * size
    elif tape.tokens[start].token_id is None or (k is not None and size > k + 1):
        spans = [[Origin.UNKNOWN] * size]
    elif chunk == 0:
        spans = [[Origin.TARGET] * size]  # the prompt's own step drafts nothing
    else:
        spans = [[Origin.ACCEPTED] * (size - 1) + [Origin.UNKNOWN]]
    steps = []
    for offset, origins in enumerate(spans):
        emitted = tape.emitted(start, origins)
        start += len(origins)
        steps.append(Step(index + offset, tape.elapsed_ms(start), drafted=(), emitted=emitted))
    return steps

"""Streamed tokens and trace records → steps.

`TokenTape` is the output as it arrived: one entry per token with its text and arrival time. The
functions lay steps over it: exactly (`traced_step`, from the plugin's records) or by the sizes of
the chunks (`inferred_step`). `specviz.servers.client.counted` does it from the server's counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from specviz.methods import Method
from specviz.servers.client.chunks import Chunk
from specviz.trace import ROOT, EmittedToken, Origin, Step, TokenDecision, TopToken, Verdict

TextOf = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class TapedToken:
    """One output token as received."""

    token_id: int | None
    text: str
    elapsed_ms: float


@dataclass(slots=True)
class TokenTape:
    """The output tokens in order, and where each chunk began."""

    tokens: list[TapedToken] = field(default_factory=list)
    chunk_sizes: list[int] = field(default_factory=list)

    def add(self, chunk: Chunk, texts: Sequence[str]) -> None:
        """Append a chunk; `texts` holds one part of its text per token id."""
        ids: Sequence[int | None] = chunk.token_ids if chunk.token_ids else [None] * len(texts)
        for token_id, text in zip(ids, texts, strict=True):
            self.tokens.append(TapedToken(token_id, text, chunk.elapsed_ms))
        self.chunk_sizes.append(len(texts))

    def emitted(self, start: int, origins: Sequence[Origin]) -> tuple[EmittedToken, ...]:
        """The tokens from `start` on with these origins, as far as they were received."""
        window = self.tokens[start : start + len(origins)]
        return tuple(
            EmittedToken(start + offset, token.token_id, token.text, origins[offset])
            for offset, token in enumerate(window)
        )

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


def traced_step(
    record: Mapping[str, Any], index: int, start: int, tape: TokenTape, text_of: TextOf
) -> Step:
    """The step that a trace record describes, laid over the tape from position `start`.

    Tokens that the verifier emitted but a stop condition cut off are not on the tape and so not
    in `emitted`; the decisions are complete.
    """
    num_accepted = record["num_accepted"]
    drafted = tuple(
        _decision(record, position, num_accepted, text_of)
        for position in range(len(record["drafted"]))
    )
    emitted = tape.emitted(start, origins_of_step(len(drafted), num_accepted))
    return Step(
        index=index,
        elapsed_ms=tape.elapsed_ms(start + len(record["emitted"])),
        drafted=drafted,
        emitted=emitted,
        draft_ms=record["draft_ms"],
        verify_ms=record["verify_ms"],
        wall_ms=record["wall_ms"],
    )


def _decision(
    record: Mapping[str, Any], position: int, num_accepted: int, text_of: TextOf
) -> TokenDecision:
    verdict = verdict_at(position, num_accepted)
    token_id = record["drafted"][position]
    judged = verdict is not Verdict.UNVERIFIED
    top = record["top"][position] if judged and position < len(record["top"]) else ()
    return TokenDecision(
        depth=position + 1,
        parent=position - 1 if position else ROOT,
        token_id=token_id,
        text=text_of(token_id),
        verdict=verdict,
        draft_prob=record["draft_probs"][position],
        target_prob=record["target_probs"][position] if judged else None,
        accept_prob=record["accept_probs"][position] if judged else None,
        u=record["u"][position] if judged else None,
        target_top=tuple(TopToken(top_id, text_of(top_id), prob) for top_id, prob in top),
    )


def ids_in_record(record: Mapping[str, Any]) -> set[int]:
    """Every token id that `traced_step` will want the text of."""
    top_ids = {top_id for top in record["top"] for top_id, _ in top or ()}
    return top_ids | set(record["drafted"])


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

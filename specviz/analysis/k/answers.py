"""One method's answers at one K, as the prediction of other Ks needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Key = tuple[int, int]
"""Prompt and turn."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One request. Times ms since it was sent; `drafted` and `accepted` of each step that drafted,
    empty for plain decoding. `num_chunks`: reads that brought tokens, each of a step or of several;
    0: unknown. `block`: requests that ran together have the same; None: it ran alone."""

    key: Key
    category: str | None
    output_tokens: int
    ttft_ms: float
    e2el_ms: float
    drafted: tuple[int, ...] = ()
    accepted: tuple[int, ...] = ()
    num_chunks: int = 0
    block: str | None = None

    @property
    def num_undrafted(self) -> int:
        """Steps behind the first token that found nothing to draft: one token each.

        At least the tokens that no draft covers (the last draft may go beyond the answer's end),
        and at least the chunks that no draft came in.
        """
        by_tokens = self.output_tokens - 1 - sum(self.accepted) - len(self.accepted)
        return max(0, by_tokens, self.num_chunks - 1 - len(self.drafted))

    @property
    def num_steps(self) -> int:
        """Steps behind the first token."""
        return len(self.drafted) + self.num_undrafted


def by_key(answers: Sequence[Answer]) -> Mapping[Key, Answer]:
    """The first answer of each prompt and turn."""
    found: dict[Key, Answer] = {}
    for answer in answers:
        found.setdefault(answer.key, answer)
    return found


def step_ms(answers: Sequence[Answer]) -> float | None:
    """Mean time of a step after the first token, ms; None without such a step."""
    steps = sum(answer.num_steps for answer in answers)
    spent = sum(answer.e2el_ms - answer.ttft_ms for answer in answers)
    return spent / steps if steps else None


def drafting_step(answers: Sequence[Answer], plain_ms: float | None) -> tuple[float, float] | None:
    """Mean draft tokens and mean ms of a step that drafts; the others are taken to cost `plain_ms`.

    None without such a step, or where nobody knows what the others cost.
    """
    drafts = sum(len(answer.drafted) for answer in answers)
    others = sum(answer.num_undrafted for answer in answers)
    if not drafts or (others and plain_ms is None):
        return None
    spent = sum(answer.e2el_ms - answer.ttft_ms for answer in answers)
    tokens = sum(sum(answer.drafted) for answer in answers)
    return tokens / drafts, (spent - others * (plain_ms or 0.0)) / drafts

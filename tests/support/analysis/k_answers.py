"""Made-up answers at one K, decoded token by token as a server does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from specviz.analysis.k.answers import Answer
from specviz.analysis.k.redraft import Redraft

WRONG = -1


@dataclass(frozen=True)
class Price:
    """True times, ms: a step without a draft, one with `k` tokens, and the first token."""

    plain: float = 10.0
    drafting: float = 12.0
    per_token: float = 1.0
    ttft: float = 30.0

    def step(self, k: int) -> float:
        return self.drafting + self.per_token * k if k else self.plain


def decode(answer: Redraft, k: int) -> tuple[list[int], list[int], int]:
    """Drafted and accepted tokens of each step that drafts, and how many steps there are; token i
    of the text is i, and draft tokens are compared with it one by one."""
    text = list(range(answer.output_tokens + answer.k + 1))
    output, drafts, accepted, num_steps = text[:1], [], [], 0
    while len(output) < answer.output_tokens:
        last = len(output) - 1
        right, length = answer.matched[last], answer.drafted[last]
        draft = [text[last + 1 + n] if n < right else WRONG for n in range(length)][:k]
        kept = 0
        while kept < len(draft) and draft[kept] == text[len(output)]:
            output.append(draft[kept])
            kept += 1
        output.append(text[len(output)])
        num_steps += 1
        if draft:
            drafts.append(len(draft))
            accepted.append(kept)
    return drafts, accepted, num_steps


def timed(index: int, redraft: Redraft, k: int, price: Price) -> Answer:
    """The request that `decode` would have been at K = k; 0: plain decoding."""
    behind = max(0, redraft.output_tokens - 1)
    drafted, accepted, num_steps = decode(redraft, k) if k else ([], [], behind)
    plain = num_steps - len(drafted)
    spent = sum(map(price.step, drafted)) + plain * price.plain
    return Answer(
        (index, 0), "short_qa", redraft.output_tokens, price.ttft, price.ttft + spent,
        tuple(drafted), tuple(accepted), num_steps + 1,
    )  # fmt: skip


def independent(alpha: float, k: int, lengths: Sequence[int], seed: int = 1) -> list[Redraft]:
    """Drafts of `k` tokens, each right with probability `alpha`, whatever its place."""
    rng = np.random.default_rng(seed)
    found = []
    for length in lengths:
        hits = rng.random((length - 1, k)) < alpha
        matched = np.cumprod(hits, axis=1).sum(axis=1)
        found.append(Redraft(k, length, (k,) * (length - 1), tuple(map(int, matched))))
    return found


@st.composite
def redrafts(
    draw: st.DrawFn, *, least_drafted: int = 0, longest: int = 24, k: int | None = None
) -> Redraft:
    largest = draw(st.integers(max(1, least_drafted), 8)) if k is None else k
    length = draw(st.integers(0, longest))
    drafted = [draw(st.integers(least_drafted, largest)) for _ in range(length - 1)]
    matched = [draw(st.integers(0, number)) for number in drafted]
    return Redraft(largest, length, tuple(drafted), tuple(matched))

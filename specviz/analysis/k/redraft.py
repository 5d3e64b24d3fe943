"""The steps at every smaller K, from drafts made again at every position of one answer.

At temperature 0 the answer does not depend on K, and a drafter whose only state is the answer so
far drafts the same tokens from the same position. So one pass that drafts at every position gives
the exact steps of every smaller K.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specviz.analysis.k.answers import Answer


@dataclass(frozen=True, slots=True)
class Redraft:
    """One answer drafted again: the draft at each of its positions.

    `drafted[i]`: number of tokens the method drafts after output token i, at most `k`;
    `matched[i]`: how many of them, from the first on, are the target's own. Both have
    `output_tokens` - 1 entries: nothing is drafted before the first token or after the last.
    """

    k: int
    output_tokens: int
    drafted: tuple[int, ...]
    matched: tuple[int, ...]

    def __post_init__(self) -> None:
        lengths = {len(self.drafted), len(self.matched), max(self.output_tokens - 1, 0)}
        if len(lengths) > 1:
            raise ValueError("a redraft has one draft after every output token but the last")


@dataclass(frozen=True, slots=True)
class StepsAtK:
    """The steps of one answer at one K: drafted and accepted tokens of each step that drafted, as
    in `Sample`, and `num_steps`, those that found nothing to draft included."""

    drafted: tuple[int, ...]
    accepted: tuple[int, ...]
    num_steps: int


def steps_at(answer: Redraft, k: int) -> StepsAtK:
    """The steps that K = `k` would have taken. Raises ValueError above the K that was drafted."""
    if not 1 <= k <= answer.k:
        raise ValueError(f"drafts of {answer.k} tokens give K from 1 to {answer.k}, not {k}")
    drafted, accepted = [], []
    position = num_steps = 0
    while position < answer.output_tokens - 1:
        num_drafted = min(answer.drafted[position], k)
        num_accepted = min(answer.matched[position], num_drafted)
        if num_drafted:
            drafted.append(num_drafted)
            accepted.append(num_accepted)
        position += num_accepted + 1
        num_steps += 1
    return StepsAtK(tuple(drafted), tuple(accepted), num_steps)


def corrected(answer: Redraft, run: Answer) -> Redraft:
    """The redraft with the run's own counts at the positions where its steps began.

    Another engine's draft model may choose differently in a near tie; where the run's steps began,
    what it drafted is known. A run whose steps do not cover the answer without gaps (a lookup that
    sometimes found nothing) does not show where they began.
    """
    if run.num_undrafted or run.output_tokens != answer.output_tokens:
        return answer
    drafted, matched = [*answer.drafted], [*answer.matched]
    position = 0
    for num_drafted, num_accepted in zip(run.drafted, run.accepted, strict=True):
        if num_drafted == answer.k and position < len(matched):
            drafted[position], matched[position] = num_drafted, num_accepted
        position += num_accepted + 1
    return replace(answer, drafted=tuple(drafted), matched=tuple(matched))


def mean_acceptance_length(steps: Sequence[StepsAtK]) -> float | None:
    """1 + accepted / drafts over answers; None if nothing was drafted."""
    drafts = sum(len(answer.drafted) for answer in steps)
    accepted = sum(sum(answer.accepted) for answer in steps)
    return 1 + accepted / drafts if drafts else None

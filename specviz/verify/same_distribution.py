"""Do two servers sample the same answers? A permutation test over answers.

Under the hypothesis that both draw from one distribution, which server gave an answer is a label
that can be shuffled within its prompt (Fisher 1935; Good, Permutation Tests, 2000). Two statistics
are looked at, and the larger counts: chi-square's over prompts, positions and tokens, which sees
any difference, and how far answers follow the greedy one, which sees mass that moved between likely
and unlikely tokens, as wrong temperatures and wrong acceptance do, with far fewer answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.001
"""A correct server fails once in a thousand tests."""

PERMUTATIONS = 4000
TRIALS = 200
POWER = 0.8
SHARES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)

Answers = Sequence[Sequence[int]]
"""Token ids, one answer each; answers may differ in length."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """One prompt's sampled answers from both servers, as many of each, and its greedy answer."""

    baseline: Answers
    speculating: Answers
    greedy: Sequence[int]


@dataclass(frozen=True, slots=True)
class SameDistribution:
    """`p_value` of the hypothesis that both servers sample alike, from `answers` of each.

    `noticed_share`: the smallest share of answers that, had they been greedy instead of sampled,
    the test would have noticed four times in five; None: not even all of them.
    """

    p_value: float
    answers: int
    noticed_share: float | None

    @property
    def differs(self) -> bool:
        return self.p_value < ALPHA


@dataclass(frozen=True, slots=True)
class _Table:
    """One prompt's answers, the baseline's first: `tokens` [answers, tokens that occur at some
    position], 0 or 1; `followed` [answers]: leading tokens that are the greedy answer's."""

    tokens: Array
    followed: Array

    def rows(self, chosen: NDArray[np.int64]) -> _Table:
        return _Table(self.tokens[chosen], self.followed[chosen])

    def statistics(self, labels: Array) -> Array:
        """[labellings, 2] from labels [labellings, answers] of +1 and -1."""
        total = np.maximum(self.tokens.sum(axis=0), 1.0)
        chi_square = ((labels @ self.tokens) ** 2 / total).sum(axis=1)
        return np.stack([chi_square, labels @ self.followed], axis=1)


def same_distribution(prompts: Sequence[Asked], seed: int = 0) -> SameDistribution:
    """`seed` shuffles and simulates."""
    rng = np.random.default_rng(seed)
    tables = [_table(asked) for asked in prompts]
    pooled = [table.rows(np.arange(len(table.followed) - 1)) for table in tables]
    shuffled = np.sum([table.statistics(_shuffled(table, rng)) for table in pooled], axis=0)
    centre, spread = shuffled.mean(axis=0), np.maximum(shuffled.std(axis=0), 1e-9)

    def largest(statistics: Array) -> Array:
        scaled = (statistics - centre) / spread
        found: Array = np.maximum(scaled[:, 0], np.abs(scaled[:, 1]))
        return found

    null = largest(shuffled)
    seen = largest(np.sum([table.statistics(_labels(table)) for table in pooled], axis=0))[0]
    threshold = float(np.quantile(null, 1 - ALPHA))

    def noticed(share: float) -> float:
        trials = [sum(_trial(table, share, rng) for table in tables) for _ in range(TRIALS)]
        return float(np.mean(largest(np.concatenate(trials)) > threshold))

    return SameDistribution(
        p_value=(int((null >= seen - 1e-9).sum()) + 1) / (PERMUTATIONS + 1),
        answers=sum(len(asked.speculating) for asked in prompts),
        noticed_share=next((share for share in SHARES if noticed(share) >= POWER), None),
    )


def _table(asked: Asked) -> _Table:
    """With the greedy answer as the last row."""
    answers = [*asked.baseline, *asked.speculating, asked.greedy]
    pairs = [list(enumerate(answer)) for answer in answers]
    occurring = sorted({pair for row in pairs for pair in row})
    columns = {pair: column for column, pair in enumerate(occurring)}
    tokens = np.zeros((len(answers), len(columns)))
    for row, found in enumerate(pairs):
        tokens[row, [columns[pair] for pair in found]] = 1.0
    followed = [_common(answer, asked.greedy) for answer in answers]
    return _Table(tokens, np.array(followed, dtype=float))


def _common(answer: Sequence[int], greedy: Sequence[int]) -> int:
    """Leading tokens in common."""
    pairs = enumerate(zip(answer, greedy, strict=False))
    shorter = min(len(answer), len(greedy))
    return next((place for place, (one, other) in pairs if one != other), shorter)


def _labels(table: _Table) -> Array:
    """[1, answers]: +1 for the first half, -1 for the second."""
    return np.repeat([1.0, -1.0], len(table.followed) // 2)[None]


def _shuffled(table: _Table, rng: np.random.Generator) -> Array:
    return rng.permuted(np.repeat(_labels(table), PERMUTATIONS, axis=0), axis=1)


def _trial(table: _Table, share: float, rng: np.random.Generator) -> Array:
    """Statistics [1, 2] of answers that are drawn again, some of the second server's replaced by
    the greedy one, the last row."""
    last = len(table.followed) - 1
    drawn = rng.integers(last, size=last)
    second = drawn[last // 2 :]
    second[rng.random(len(second)) < share] = last
    again = table.rows(drawn)
    return again.statistics(_labels(again))

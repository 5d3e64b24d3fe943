"""Rejection sampling of one draft token: what is accepted, what is drawn instead, what comes out.

Leviathan et al., arXiv 2211.17192, section 2.3 and appendix A.1; Chen et al., arXiv 2302.01318,
theorem 1. A token drawn from the draft's distribution is accepted with probability
min(1, target_prob / draft_prob); after a rejection the output is drawn from
norm(max(0, target_prob - draft_prob)). Distributions are float64 arrays of shape [V].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from specviz.analysis.wilson import wilson_interval
from specviz.errors import UsageError

Probs = NDArray[np.float64]

MOST_DRAWS = 10_000_000
CLOSE_TO_ONE = 1e-9


class Rule(StrEnum):
    """What is done with a draft token: the rule of the papers, and two that look like it."""

    EXACT = "rejection sampling"
    ALWAYS_ACCEPT = "always accept"
    TARGET_RESAMPLE = "redraw from the target"


@dataclass(frozen=True, slots=True)
class Simulation:
    """Outputs of `n` draft tokens under one rule; `counts` has shape [V] and sums to `n`."""

    n: int
    accepted: int
    counts: NDArray[np.int64]

    @property
    def shares(self) -> Probs:
        """Empirical output distribution [V]."""
        shares: Probs = self.counts / self.n
        return shares

    def intervals(self) -> tuple[Probs, Probs]:
        """Wilson's 95 % interval of every token's probability, lower and upper ends [V]."""
        return wilson_interval(self.counts, self.n)


def normalised(weights: Sequence[float], name: str) -> Probs:
    """The weights divided by their sum. Raises UsageError for what cannot be a distribution."""
    probs = np.asarray(weights, dtype=np.float64)
    if probs.ndim != 1 or len(probs) < 1:
        raise UsageError(f"{name} needs at least one probability.")
    if not np.isfinite(probs).all() or (probs < 0).any():
        raise UsageError(f"{name} cannot have negative or missing probabilities.")
    if probs.sum() <= 0 or not np.isfinite(probs.sum()):
        raise UsageError(f"{name} needs at least one probability above 0.")
    # The largest first: weights near the limits of a float must not overflow or vanish.
    probs = probs / probs.max()
    return np.asarray(probs / probs.sum(), dtype=np.float64)


def is_normalised(weights: Sequence[float]) -> bool:
    """Whether the weights sum to 1 already."""
    return abs(sum(weights) - 1.0) <= CLOSE_TO_ONE


def accepted_part(target_probs: Probs, draft_probs: Probs) -> Probs:
    """Probability of every token to be drafted and accepted: min(target_prob, draft_prob) [V]."""
    _check(target_probs, draft_probs)
    return np.minimum(target_probs, draft_probs)


def acceptance(target_probs: Probs, draft_probs: Probs) -> float:
    """Probability that the draft token is accepted, 0-1: the sum of min, 1 - total variation."""
    return min(1.0, float(accepted_part(target_probs, draft_probs).sum()))


def total_variation(left: Probs, right: Probs) -> float:
    """Half of the sum of absolute differences, 0-1."""
    _check(left, right)
    return float(np.abs(left - right).sum() / 2)


def residual(target_probs: Probs, draft_probs: Probs) -> Probs | None:
    """What a rejected token is replaced from [V]; None where nothing is ever rejected."""
    _check(target_probs, draft_probs)
    missing = np.maximum(target_probs - draft_probs, 0.0)
    total = missing.sum()
    return None if total <= 0 else np.asarray(missing / total, dtype=np.float64)


def output_probs(target_probs: Probs, draft_probs: Probs, rule: Rule = Rule.EXACT) -> Probs:
    """The exact distribution of the output under a rule [V]; the target's for `Rule.EXACT`."""
    accepted = accepted_part(target_probs, draft_probs)
    if rule is Rule.ALWAYS_ACCEPT:
        return draft_probs.copy()
    again = _redrawn_from(target_probs, draft_probs, rule)
    return accepted if again is None else accepted + max(0.0, 1.0 - accepted.sum()) * again


def simulate(target_probs: Probs, draft_probs: Probs, n: int, seed: int) -> dict[Rule, Simulation]:
    """Draw `n` draft tokens and put every one of them through each rule.

    The rules see the same draft tokens and the same random numbers for acceptance, so that they
    differ in nothing else. Raises UsageError for `n` outside 1 to `MOST_DRAWS`.
    """
    _check(target_probs, draft_probs)
    if not 1 <= n <= MOST_DRAWS:
        raise UsageError(f"The number of draws is from 1 to {MOST_DRAWS:,}, not {n:,}.")
    rng = np.random.default_rng(seed)
    size = len(target_probs)
    # Draws are independent: their order says nothing, so equal tokens may be grouped.
    drafts = rng.multinomial(n, draft_probs)
    drafted = np.repeat(np.arange(size), drafts)
    less = target_probs < draft_probs  # elsewhere the ratio is 1 or above, however large
    ratios = np.divide(target_probs, draft_probs, out=np.ones(size), where=less)
    kept = np.bincount(drafted[rng.random(n) < ratios[drafted]], minlength=size)
    accepted = int(kept.sum())
    found = {Rule.ALWAYS_ACCEPT: Simulation(n, n, drafts)}
    for rule in (Rule.EXACT, Rule.TARGET_RESAMPLE):
        again = _redrawn_from(target_probs, draft_probs, rule)
        # Rounding may reject a token of two equal distributions: then it is the target's anyway.
        redrawn = rng.multinomial(n - accepted, target_probs if again is None else again)
        found[rule] = Simulation(n, accepted, kept + redrawn)
    return {rule: found[rule] for rule in Rule}


def _redrawn_from(target_probs: Probs, draft_probs: Probs, rule: Rule) -> Probs | None:
    return target_probs if rule is Rule.TARGET_RESAMPLE else residual(target_probs, draft_probs)


def _check(left: Probs, right: Probs) -> None:
    if left.shape != right.shape:
        raise UsageError(
            f"Both distributions need the same tokens: one has {len(left)}, the other {len(right)}."
        )

"""Formulae of speculative decoding: tokens per step and speed-up from acceptance and cost.

Leviathan et al., arXiv 2211.17192, section 3: `alpha` (0-1) is the probability that a draft token
is accepted, independent of the others; `k` (their gamma) the number of draft tokens per step;
`cost` (their c) the time of one draft token as a share of a plain decoding step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from specviz.config import MAX_K
from specviz.errors import UsageError


def expected_tokens(alpha: float, k: int) -> float:
    """Tokens per step, the recovered or bonus token included: (1 - alpha^(k+1)) / (1 - alpha).

    From 1 (`alpha` 0 or `k` 0) to k + 1 (`alpha` 1). Equation 1 of the paper, summed term by term
    so that nothing is divided by 1 - alpha. Raises UsageError for values outside their range.
    """
    check(alpha=alpha, k=k)
    return sum(alpha**depth for depth in range(k + 1))


def expected_tokens_by_position(rates: Iterable[float]) -> float:
    """Tokens per step from unconditional acceptance by position: 1 + their sum.

    Nothing is assumed: by definition the sum is accepted tokens per draft.
    """
    return 1.0 + sum(rates)


def step_cost(k: int, cost: float) -> float:
    """Time of one step with `k` draft tokens in plain decoding steps: cost * k + 1.

    Verifying k + 1 tokens is taken to cost what decoding one does, as the paper does.
    """
    check(k=k, cost=cost)
    return cost * k + 1.0


def speedup(alpha: float, k: int, cost: float) -> float:
    """Plain decoding's time per token over that of speculation (Theorem 3.8)."""
    return expected_tokens(alpha, k) / step_cost(k, cost)


def best_k(alpha: float, cost: float, ks: Sequence[int] = tuple(range(MAX_K + 1))) -> int:
    """The K of `ks` with the largest speed-up, the smallest of equals; 0: leave it off."""
    if not ks:
        raise UsageError("Name at least one K to choose from.")
    return max(sorted(ks), key=lambda k: speedup(alpha, k, cost))


def break_even_alpha(k: int, cost: float) -> float | None:
    """The acceptance at which speculation neither gains nor loses; None: not even at 1.

    Without draft tokens nothing can be lost: 0.
    """
    check(k=k, cost=cost)
    if expected_tokens(1.0, k) < step_cost(k, cost):
        return None
    low, high = 0.0, 1.0
    for _ in range(60):  # halves to below the precision of a float
        middle = (low + high) / 2
        low, high = (low, middle) if speedup(middle, k, cost) >= 1 else (middle, high)
    return high if speedup(0.0, k, cost) < 1 else 0.0


def check(*, alpha: float = 0.0, k: int = 0, cost: float = 0.0) -> None:
    """Raise UsageError for values outside their range."""
    if not 0.0 <= alpha <= 1.0:
        raise UsageError(
            f"alpha, the share of draft tokens accepted, is from 0 to 1, not {alpha:g}."
        )
    if not 0 <= k <= MAX_K:
        raise UsageError(f"K is from 0 to {MAX_K}, not {k}.")
    if not 0.0 <= cost < float("inf"):
        raise UsageError(
            f"The cost of a draft token is a share of a decoding step from 0 up, not {cost:g}."
        )

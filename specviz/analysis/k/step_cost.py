"""What one engine step costs, as a line over the draft tokens in it.

step_ms = fixed + per_token * drafted: drafting and verifying one token more cost the same, whatever
their place. Whole steps are timed: draft and target, each timed by itself, mispredict. A step
without a draft is cheaper than the line says, because drafting has a price of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from specviz.errors import UsageError

Drafted = TypeVar("Drafted", float, NDArray[np.float64])


@dataclass(frozen=True, slots=True)
class StepCost:
    """`fixed_ms` for a step that drafts, `per_token_ms` for each draft token in it, `plain_ms` for
    one that drafts nothing, None where that was not timed; `basis` says what was fitted. `one_k`:
    drafting steps were timed at one K only, so that `fixed_ms` is a guess: plain decoding's."""

    fixed_ms: float
    per_token_ms: float
    plain_ms: float | None
    basis: str
    one_k: bool = False

    def at(self, drafted: Drafted) -> Drafted:
        """ms of a step with so many draft tokens, above 0."""
        return self.fixed_ms + self.per_token_ms * drafted

    def share(self, plain_ms: float) -> float:
        """One draft token as a share of a plain decoding step, c of `theory.step_cost`: of the one
        timed next to it, else of `plain_ms`. 0 where tokens cost nothing that could be measured."""
        return max(0.0, self.per_token_ms / (self.plain_ms or plain_ms))


def fit_step_cost(points: Mapping[float, float], basis: str) -> StepCost:
    """The least-squares line through step times (ms) by draft tokens per step.

    Plain decoding, at 0 tokens, is left out of the line where there are two others. Raises
    UsageError for fewer than two different numbers of draft tokens.
    """
    drafting = {drafted: ms for drafted, ms in points.items() if drafted > 0}
    fitted = drafting if len(drafting) > 1 else points
    if len(fitted) < 2:
        raise UsageError("Step times at two values of K are needed for the cost of a token.")
    per_token, fixed = np.polyfit([*fitted], [*fitted.values()], deg=1)
    return StepCost(float(fixed), float(per_token), points.get(0), basis, len(drafting) == 1)

"""A figure with its 95 % interval, where there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """`low` and `high` are None where the figure was typed or published without an interval."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def is_known(self) -> bool:
        return self.low is not None and self.high is not None

    def through(self, function: Callable[[float], float]) -> Interval:
        """The figure that a monotonic function makes of it; a falling one swaps the ends."""
        value = function(self.value)
        if self.low is None or self.high is None:
            return Interval(value)
        ends = sorted((function(self.low), function(self.high)))
        return Interval(value, ends[0], ends[1])

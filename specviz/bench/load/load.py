"""A steady load."""

from __future__ import annotations

import math
from dataclasses import dataclass

from specviz.analysis.benchmark.results import load_text
from specviz.errors import UsageError

MAX_CONCURRENCY = 1024


@dataclass(frozen=True, slots=True)
class Load:
    """How requests are sent: `concurrency` at a time, each after the one before (closed loop), or
    as they come at `request_rate` per second (open loop, Poisson arrivals)."""

    concurrency: int | None = None
    request_rate: float | None = None

    def __post_init__(self) -> None:
        if (self.concurrency is None) == (self.request_rate is None):
            raise UsageError("A load is either a concurrency or a request rate.")
        if self.concurrency is not None and not 1 <= self.concurrency <= MAX_CONCURRENCY:
            raise UsageError(
                f"concurrency must be from 1 to {MAX_CONCURRENCY}, not {self.concurrency}."
            )
        if self.request_rate is not None and not (
            self.request_rate > 0 and math.isfinite(self.request_rate)
        ):
            raise UsageError(f"request_rate must be above 0 per second, not {self.request_rate:g}.")

    @property
    def title(self) -> str:
        """`concurrency 8`, or `2.5 requests/s`."""
        return load_text(self.concurrency, self.request_rate)

    @property
    def most_at_once(self) -> int:
        """Requests in flight that are planned for: one where they come as they come."""
        return self.concurrency or 1

"""Figures of the phases of a load that changed, as tables, plots and JSON show them."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.analysis.text import digits
from specviz.analysis.verdict import Verdict, verdict_of

TOO_WIDE = 100.0
"""Upper over lower end of an interval from which on its ends say nothing, as two passes often give:
texts and charts leave them out, JSON and files keep them."""

TOO_FEW = "(too few passes)"


def is_too_wide(low: float, high: float) -> bool:
    """Both ends are of a ratio: never negative."""
    return high > TOO_WIDE * low


@dataclass(frozen=True, slots=True)
class Estimate:
    """A ratio of totals with its 95 % interval; `low` and `high` are None for too few passes."""

    value: float
    low: float | None
    high: float | None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval, if it says anything."""
        if self.low is None or self.high is None or is_too_wide(self.low, self.high):
            return None
        return self.low, self.high

    @property
    def text(self) -> str:
        """`12.3 (11.8 to 12.9)`; the value alone where there is no interval."""
        if self.low is None:
            return digits(self.value) or ""
        if self.ends is None:
            return f"{digits(self.value)} {TOO_FEW}"
        low, high = self.ends
        return f"{digits(self.value)} ({digits(low)} to {digits(high)})"


@dataclass(frozen=True, slots=True)
class Gain:
    """How many times better than another arm in the same passes: above 1 is better, whichever
    way the figure itself runs."""

    ratio: float
    low: float | None
    high: float | None
    verdict: Verdict = Verdict.UNDECIDED
    """Follows from the interval, whatever is given."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", verdict_of(self.low, self.high))

    @property
    def text(self) -> str:
        """`1.27× (1.11 to 1.45)`; the ratio alone where there is no interval."""
        if self.low is None or self.high is None:
            return f"{self.ratio:.2f}×"
        if is_too_wide(self.low, self.high):
            return f"{self.ratio:.2f}× {TOO_FEW}"
        return f"{self.ratio:.2f}× ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True, slots=True)
class Compared:
    """One arm against another, `against`, over the `passes` that both finished. A gain is None
    where the figure is not known or zero."""

    against: int
    passes: int
    request_goodput: Gain | None
    tpot_ms: Gain | None
    ttft_ms: Gain | None


def phase_title(phase: int | None, load: str | None) -> str:
    """`2 · concurrency 4`, or `all phases`."""
    return "all phases" if phase is None else f"{phase + 1} · {load}"


@dataclass(frozen=True, slots=True)
class PhaseFigures:
    """One arm in one phase of its traffic, over all passes that it finished.

    `phase` from 0 and its `load`; both None: the whole traffic. `temperature` None: all requests,
    else those at it. `requests` were sent in the phase, `failed` of them got no answer. `seconds`:
    how long the phase lasted, all passes together. `request_goodput`: requests per second that
    *ended* in the phase and met every SLO; `output_throughput`: tokens per second of the requests
    that ended in it. Of the requests *sent* in it: `ttft_ms` (mean), `tpot_ms` (all decoding time
    over all tokens after the first chunks), `draft_acceptance_rate`, and how many tokens were
    drafted.
    """

    arm: str
    arm_index: int
    traffic: str
    phase: int | None
    load: str | None
    temperature: float | None
    passes: int
    requests: int
    failed: int
    seconds: float
    request_goodput: Estimate | None
    output_throughput: Estimate | None
    ttft_ms: Estimate | None
    tpot_ms: Estimate | None
    draft_acceptance_rate: Estimate | None
    num_draft_tokens: int | None
    compared: tuple[Compared, ...]

    @property
    def title(self) -> str:
        return phase_title(self.phase, self.load)

    def versus(self, arm_index: int) -> Compared | None:
        """The comparison with that arm."""
        return next((one for one in self.compared if one.against == arm_index), None)

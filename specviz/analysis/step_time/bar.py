"""An arm's mean step as a bar: its parts, their colours, and what plain decoding would take."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.analysis.step_time.step_time import StepTime
from specviz.palette import BASELINE, DRAFTING, OTHER_TIME

DRAFT, BESIDE, VERIFY, OTHER = "draft", "draft while verifying", "verify", "everything else"
WHOLE = "step, its parts are not known"
PLAIN = "plain decoding of as many tokens"

COLOURS = {DRAFT: DRAFTING, BESIDE: DRAFTING, VERIFY: BASELINE, OTHER: OTHER_TIME, WHOLE: BASELINE}
"""In the order of the parts. `BESIDE` and `WHOLE` are hatched."""


@dataclass(frozen=True, slots=True)
class StepBar:
    """One arm's mean step. `plain_ms`: a token of plain decoding, None where not measured."""

    name: str
    found: StepTime
    plain_ms: float | None = None

    @property
    def parts(self) -> dict[str, float]:
        """ms of each part, which add up to the step; without those that took no time."""
        found = self.found
        if found.draft_ms is None or found.verify_ms is None or found.other_ms is None:
            return {WHOLE: found.step_ms}
        beside = found.overlapped_draft_ms or 0.0
        parts = {
            DRAFT: found.draft_ms,
            BESIDE: beside,
            VERIFY: found.verify_ms - beside,
            OTHER: found.other_ms,
        }
        return {name: took for name, took in parts.items() if took}

    @property
    def plain_step_ms(self) -> float | None:
        """How long plain decoding takes for the tokens of such a step, ms."""
        return None if self.plain_ms is None else self.found.tokens_per_step * self.plain_ms

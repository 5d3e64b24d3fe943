"""The mean steps of arms that are shown together, each explained against plain decoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.analysis.compare.reasons import another_place, not_for_times
from specviz.analysis.step_time.bar import StepBar
from specviz.analysis.step_time.explanation import explain_step, explain_tokens
from specviz.analysis.step_time.step_time import StepTime
from specviz.analysis.text import digits
from specviz.config import RunConfig
from specviz.methods import Method

NO_BASELINE = "No plain decoding to compare with: run a baseline arm next to it."
NOTHING = "Nothing is known about its steps: no second one arrived."


@dataclass(frozen=True, slots=True)
class ArmTime:
    """One arm. `found` is None where its steps are not known; then `tpot_ms` and the mean
    `acceptance_length` are all there is, None without them."""

    name: str
    config: RunConfig
    found: StepTime | None
    tpot_ms: float | None
    acceptance_length: float | None

    @property
    def token_ms(self) -> float | None:
        """Time per output token, ms."""
        return self.found.tpot_ms if self.found else self.tpot_ms

    @property
    def is_plain(self) -> bool:
        return self.config.method is Method.BASELINE


def plain_ms(arm: ArmTime, arms: Sequence[ArmTime]) -> float | None:
    """A token of plain decoding, ms, by the first arm whose times can be compared with these."""
    for other in arms:
        if other.is_plain and other.token_ms and not why_not(other, arm):
            return other.token_ms
    return None


def why_not(baseline: ArmTime, arm: ArmTime) -> str:
    """Why a baseline's times say nothing about an arm's; empty if they do."""
    elsewhere = another_place(baseline.config, arm.config)
    reasons = not_for_times(baseline.config, arm.config)
    return "; ".join(filter(None, [elsewhere, *reasons]))


def explained(arm: ArmTime, arms: Sequence[ArmTime]) -> str:
    """The arm's step in a sentence, and what would have to change; see `explanation`."""
    plain = None if arm.is_plain else plain_ms(arm, arms)
    if arm.found is not None:
        said = explain_step(arm.found, plain, drafts=not arm.is_plain)
    elif arm.tpot_ms:
        said = explain_tokens(arm.tpot_ms, arm.acceptance_length, plain)
    else:
        return NOTHING
    return said if plain or arm.is_plain else f"{said} {_why_alone(arm, arms)}"


def _why_alone(arm: ArmTime, arms: Sequence[ArmTime]) -> str:
    reasons = [why_not(other, arm) for other in arms if other.is_plain and other.token_ms]
    return f"No plain decoding to compare with: {reasons[0]}." if reasons else NO_BASELINE


def step_time_line(bar: StepBar) -> dict[str, str | None]:
    """The figures of a bar: a line of the table next to it, per step unless the name says else."""
    found = bar.found
    return {
        "arm": bar.name,
        "steps": f"{found.num_steps:,}",
        "draft ms": digits(found.draft_ms or None),
        "draft while verifying ms": digits(found.overlapped_draft_ms or None),
        "verify ms": digits(found.verify_ms),
        "everything else ms": digits(found.other_ms),
        "step ms": digits(found.step_ms),
        "tok/step": digits(found.tokens_per_step),
        "ms a token": digits(found.tpot_ms),
        "plain decoding of as many tokens ms": digits(bar.plain_step_ms),
    }

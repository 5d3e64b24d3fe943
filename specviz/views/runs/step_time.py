"""Where the time of the request's steps goes, arm by arm."""

from __future__ import annotations

from collections.abc import Sequence

from specviz.analysis.step_time.arms import ArmTime
from specviz.analysis.step_time.step_time import mean_step, step_totals
from specviz.views.runs.opened import OpenedArm
from specviz.views.step_time import show_step_times

ONE_ANSWER = (
    "One answer of each arm: only a benchmark shows whether a difference is more than noise. The "
    "time that tracing takes is part of everything else."
)


def show_step_time(arms: Sequence[OpenedArm]) -> None:
    """The mean step after the first of each arm, and why it is slower or faster."""
    show_step_times([_arm_time(arm) for arm in arms], ONE_ANSWER)


def _arm_time(arm: OpenedArm) -> ArmTime:
    trace, metrics = arm.trace(), arm.request.metrics
    totals = step_totals(trace) if trace else None
    return ArmTime(
        arm.name,
        arm.config,
        mean_step([totals]) if totals else None,
        metrics.tpot_ms if metrics else None,
        metrics.mean_acceptance_length if metrics else None,
    )

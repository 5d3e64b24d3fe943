"""The share of verification time during which drafting ran too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.trace import Lane, Span, Step

Interval = tuple[float, float]
"""Begin and end in ms since the request was sent."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Time in ms that each lane worked, and that both did; work of one lane counts once."""

    draft_ms: float
    verify_ms: float
    both_ms: float

    @property
    def share(self) -> float | None:
        """Time both lanes worked / time of verification, 0-1; None without verification."""
        return self.both_ms / self.verify_ms if self.verify_ms else None


def overlap(steps: Sequence[Step]) -> Overlap | None:
    """The overlap in these steps; None where the engine does not report when its lanes worked."""
    spans = spans_of(steps)
    if not spans:
        return None
    return Overlap(
        total_ms(lane_intervals(spans, Lane.DRAFT)),
        total_ms(lane_intervals(spans, Lane.VERIFY)),
        total_ms(both_at_work(spans)),
    )


def spans_of(steps: Sequence[Step]) -> tuple[Span, ...]:
    return tuple(span for step in steps for span in step.spans)


def lane_intervals(spans: Sequence[Span], lane: Lane) -> tuple[Interval, ...]:
    """When a lane worked: apart from each other, in order; empty spans are left out."""
    merged: list[Interval] = []
    for begin, end in sorted((span.start_ms, span.end_ms) for span in spans if span.lane is lane):
        if end <= begin:
            continue
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)


def both_at_work(spans: Sequence[Span]) -> tuple[Interval, ...]:
    """When drafting and verification ran at the same time."""
    drafting = lane_intervals(spans, Lane.DRAFT)
    verifying = lane_intervals(spans, Lane.VERIFY)
    shared: list[Interval] = []
    left = right = 0
    while left < len(drafting) and right < len(verifying):
        begin = max(drafting[left][0], verifying[right][0])
        end = min(drafting[left][1], verifying[right][1])
        if begin < end:
            shared.append((begin, end))
        if drafting[left][1] < verifying[right][1]:
            left += 1
        else:
            right += 1
    return tuple(shared)


def total_ms(intervals: Sequence[Interval]) -> float:
    return sum(end - begin for begin, end in intervals)

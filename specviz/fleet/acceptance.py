"""What a server accepted lately, from differences of the counters on its `/metrics`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from specviz.servers.metrics import SpecCounters

WINDOW_S = 300.0
SLICES = 10
"""Points of the small curve."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Counts since the server started, as read `at_s` seconds on a clock that never goes back.

    `output_tokens` is None where they are not reported.
    """

    at_s: float
    counters: SpecCounters
    output_tokens: float | None = None


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Of the drafts of the last `over_s` seconds.

    `output_tokens`: of all requests meanwhile, None where they are not reported. `curve`: the rate
    in each tenth of the five minutes, oldest first, None where nothing was drafted.
    """

    over_s: float
    num_draft_tokens: int
    num_accepted_tokens: int
    output_tokens: float | None
    curve: tuple[float | None, ...]

    @property
    def draft_acceptance_rate(self) -> float | None:
        """None where nothing was drafted."""
        return _rate(self.num_draft_tokens, self.num_accepted_tokens)


def recent(snapshots: Sequence[Snapshot], now_s: float) -> list[Snapshot]:
    """Those of the last five minutes."""
    return [one for one in snapshots if one.at_s >= now_s - WINDOW_S]


def acceptance(snapshots: Sequence[Snapshot], now_s: float) -> Acceptance | None:
    """From snapshots in the order of their times; None with fewer than two of the last five
    minutes, because a counter alone says nothing about now."""
    kept = recent(snapshots, now_s)
    if len(kept) < 2:
        return None
    drafted, accepted = [0] * SLICES, [0] * SLICES
    for later, grown in _increases(kept):
        place = _slice(later.at_s, now_s)
        drafted[place] += grown.num_draft_tokens
        accepted[place] += grown.num_accepted_tokens
    return Acceptance(
        over_s=kept[-1].at_s - kept[0].at_s,
        num_draft_tokens=sum(drafted),
        num_accepted_tokens=sum(accepted),
        output_tokens=_output_tokens(kept),
        curve=tuple(_rate(d, a) for d, a in zip(drafted, accepted, strict=True)),
    )


def _increases(snapshots: Sequence[Snapshot]) -> Iterator[tuple[Snapshot, SpecCounters]]:
    """Each snapshot but the first, with what was counted since the one before.

    A counter that went back began again at zero, so all of it is new.
    """
    for earlier, later in pairwise(snapshots):
        grown = later.counters - earlier.counters
        yield later, later.counters if grown.went_back else grown


def _output_tokens(snapshots: Sequence[Snapshot]) -> float | None:
    total = 0.0
    for earlier, later in pairwise(snapshots):
        if earlier.output_tokens is None or later.output_tokens is None:
            return None
        grown = later.output_tokens - earlier.output_tokens
        total += grown if grown >= 0 else later.output_tokens
    return total


def _slice(at_s: float, now_s: float) -> int:
    age = min(max(now_s - at_s, 0.0), WINDOW_S)
    return SLICES - 1 - min(int(age / (WINDOW_S / SLICES)), SLICES - 1)


def _rate(drafted: int, accepted: int) -> float | None:
    return accepted / drafted if drafted else None

"""What a running benchmark tells while it runs: pages and the terminal show the same."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class BenchPhase(StrEnum):
    """Where a benchmark stands; the last five are final for this process, all but the first of
    those can be resumed."""

    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self not in (BenchPhase.STARTING, BenchPhase.RUNNING, BenchPhase.PAUSED)


@dataclass(frozen=True, slots=True)
class ArmProgress:
    """One arm so far. `phase`: waiting, starting, measuring, finished or failed; `note` says more
    (what its server does while it loads, why it failed). Figures are of all requests so far, None
    before the first."""

    arm: str
    phase: str
    note: str | None
    done: int
    planned: int
    failed: int
    tpot_ms: float | None
    output_throughput: float | None
    draft_acceptance_rate: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """A benchmark so far. `doing` names the round under way, `left_s` is None until it can be told
    from what was measured."""

    benchmark_id: str
    name: str
    phase: BenchPhase
    doing: str | None
    done: int
    planned: int
    elapsed_s: float
    left_s: float | None
    arms: tuple[ArmProgress, ...]
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; the keys are the field names."""
        return asdict(self)

"""The progress of a running benchmark, as pages, the terminal and the API show it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class BenchPhase(StrEnum):
    """The state of a benchmark. The last four are final for this process; of these, all but
    `FINISHED` can be resumed."""

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
    (loading stage of its server, reason of a failure). Figures are of all requests so far, None
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
    """A benchmark so far. `doing` names the round under way, `left_s` is None until it can be
    estimated from finished blocks. `skipped` is a sentence about entries of the prompt file."""

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
    skipped: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; the keys are the field names."""
        return asdict(self)

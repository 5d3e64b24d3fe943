"""The counts of a running benchmark: what is done, how fast, how long the rest will take."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from specviz.analysis.sample_metrics import metrics_of
from specviz.bench.load.load import Load
from specviz.bench.load.traffic import Traffic
from specviz.bench.progress import ArmProgress, BenchPhase, Progress
from specviz.sample import Sample

Place = tuple[int, Load | Traffic]
"""An arm, and a load that it is measured at."""

KEPT_TPOT = 500
"""The current TPOT is the median of this many last requests."""


@dataclass(slots=True)
class ArmTally:
    """One arm's counts; seconds are those of its blocks."""

    name: str
    planned: int
    done: int = 0
    failed: int = 0
    phase: str = "waiting"
    note: str | None = None
    error: str | None = None
    tokens: int = 0
    seconds: float = 0.0
    drafted: int = 0
    accepted: int = 0
    tpot_ms: list[float] = field(default_factory=list)

    def add(self, sample: Sample) -> None:
        self.done += 1
        metrics = metrics_of(sample)
        self.tokens += metrics.output_tokens or 0
        self.drafted += metrics.num_draft_tokens or 0
        self.accepted += metrics.num_accepted_tokens or 0
        if metrics.tpot_ms is not None:
            self.tpot_ms = [*self.tpot_ms[-KEPT_TPOT:], metrics.tpot_ms]

    def progress(self) -> ArmProgress:
        return ArmProgress(
            arm=self.name,
            phase=self.phase,
            note=self.error or self.note,
            done=self.done,
            planned=self.planned,
            failed=self.failed,
            tpot_ms=median(self.tpot_ms) if self.tpot_ms else None,
            output_throughput=self.tokens / self.seconds if self.seconds else None,
            draft_acceptance_rate=self.accepted / self.drafted if self.drafted else None,
        )


class Tally:
    """All arms' counts. Written by the benchmark's thread, read by any."""

    def __init__(self, benchmark_id: str, name: str, arms: Sequence[ArmTally]) -> None:
        self.arms = list(arms)
        self.phase = BenchPhase.STARTING
        self.doing: str | None = None
        self.error: str | None = None
        self.skipped: str | None = None
        self._benchmark_id = benchmark_id
        self._name = name
        self._began = time.monotonic()
        self._ended: float | None = None
        self._left: dict[Place, int] = {}
        self._speed: dict[Place, tuple[float, int]] = defaultdict(lambda: (0.0, 0))
        self._lock = threading.Lock()

    def plan(self, left: Mapping[Place, int]) -> None:
        """How many conversations are left, by arm and load."""
        with self._lock:
            self._left = dict(left)

    def block_done(
        self, arm: int, load: Load | Traffic, conversations: int, seconds: float
    ) -> None:
        """A block has ended after `seconds`."""
        with self._lock:
            self.arms[arm].seconds += seconds
            spent, count = self._speed[arm, load]
            self._speed[arm, load] = (spent + seconds, count + conversations)
            self._left[arm, load] = max(0, self._left.get((arm, load), 0) - conversations)

    def end(self, phase: BenchPhase, error: str | None) -> None:
        self.phase, self.error, self.doing = phase, error, None
        self._ended = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        return (self._ended or time.monotonic()) - self._began

    def snapshot(self) -> Progress:
        return Progress(
            benchmark_id=self._benchmark_id,
            name=self._name,
            phase=self.phase,
            doing=self.doing,
            done=sum(arm.done for arm in self.arms),
            planned=sum(arm.planned for arm in self.arms),
            elapsed_s=self.elapsed_s,
            left_s=None if self.phase.is_final else self._left_s(),
            arms=tuple(arm.progress() for arm in self.arms),
            error=self.error,
            skipped=self.skipped,
        )

    def _left_s(self) -> float | None:
        """What is left at the speed of the same arm and load, of the arm, or of all arms."""
        with self._lock:
            speed = dict(self._speed)
            left = {key: n for key, n in self._left.items() if n and not self.arms[key[0]].error}
        if not speed:
            return None
        return sum(n * _seconds_each(speed, *key) for key, n in left.items())


def _seconds_each(
    speed: Mapping[Place, tuple[float, int]], arm: int, load: Load | Traffic
) -> float:
    same = [speed[arm, load]] if (arm, load) in speed else []
    of_arm = [value for key, value in speed.items() if key[0] == arm]
    chosen = same or of_arm or list(speed.values())
    return sum(seconds for seconds, _ in chosen) / max(1, sum(count for _, count in chosen))

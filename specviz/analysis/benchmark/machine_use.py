"""Who used the machine while it was measured: counters in, shares out."""

from __future__ import annotations

from dataclasses import dataclass

from specviz.analysis.text import percent

TAKEN_SHARE = 0.10
"""What others may take before a block is disturbed. An engine that needs every core loses at most
the share that others take, so what stays unmarked is at most 10 % too slow. The kernel counts in
ticks of 10 ms: over a window of 1 s on one core a share is known to about 2 %, which together with
the few percent of an idle system's own services stays below."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The counters of the machine at one moment, each in seconds since some fixed time.

    `busy_s`: all processes on the `cores` that ours may use, all cores added; `own_s`: ours, with
    the servers that are measured (`pids`); `steal_s`: what the host of a virtual machine gave to
    others; `throttled_s`: what the limit of our control group withheld, None where it is not known.
    """

    at_s: float
    cores: int
    busy_s: float
    own_s: float
    steal_s: float = 0.0
    throttled_s: float | None = None
    pids: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class MachineUse:
    """Shares of the processor in a window, 0 to 1: used by others, given away by the host of a
    virtual machine, withheld by the limit of our control group. `gpu_others_share`: of the busiest
    GPU that we use, used by others. None: not known."""

    others_share: float
    steal_share: float = 0.0
    throttled_share: float | None = None
    gpu_others_share: float | None = None

    @property
    def taken_share(self) -> float:
        """What others took of the processor or of the GPU, whichever is more. A limit of our own
        control group is no disturbance: measuring again would meet it again."""
        processor = min(1.0, self.others_share + self.steal_share)
        return max(processor, self.gpu_others_share or 0.0)

    @property
    def is_disturbed(self) -> bool:
        return self.taken_share >= TAKEN_SHARE

    @property
    def text(self) -> str:
        """What others took, in words that follow `while`."""
        gpu = self.gpu_others_share or 0.0
        if gpu > min(1.0, self.others_share + self.steal_share):
            return f"other processes used {percent(gpu)} of a GPU"
        if self.steal_share > self.others_share:
            stolen = percent(self.steal_share)
            return f"the host gave {stolen} of this virtual machine's processor to others"
        return f"something else used {percent(self.others_share)} of the processor"


def use_between(
    before: Reading, after: Reading, gpu_others_share: float | None = None
) -> MachineUse:
    """Shares of the time between two readings; readings that are not a moment apart give zeros."""
    capacity_s = (after.at_s - before.at_s) * after.cores
    own_s = max(0.0, after.own_s - before.own_s)
    throttled = None
    if before.throttled_s is not None and after.throttled_s is not None:
        throttled = _share(after.throttled_s - before.throttled_s, capacity_s)
    return MachineUse(
        _share(after.busy_s - before.busy_s - own_s, capacity_s),
        _share(after.steal_s - before.steal_s, capacity_s),
        throttled,
        gpu_others_share,
    )


def _share(part_s: float, capacity_s: float) -> float:
    return min(1.0, max(0.0, part_s / capacity_s)) if capacity_s > 0 else 0.0

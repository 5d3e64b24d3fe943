"""What else uses this machine while blocks are measured: counters of the kernel and the driver."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Set
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

import psutil

from specviz.analysis.benchmark.machine_use import MachineUse, Reading, use_between
from specviz.servers.launch.usage import others_on_gpus

T = TypeVar("T")

WINDOW_S = 1.0
"""Blocks in a row are judged together until they took this long: the kernel counts in ticks of
10 ms, so that a block of 50 ms alone would be wrong by tens of percent."""

SHORTEST_S = 0.2
"""What is left at the end is watched at least this long, idle if need be."""

CGROUPS = Path("/sys/fs/cgroup")


class MachineWatch(Generic[T]):
    """Windows of blocks and what others used meanwhile. `begin` and `end` are called around each
    block; `end` and `settle` return the blocks whose window has closed.

    `roots` are the processes that are measured, their children included; everything else on the
    machine is others. While `is_blind`, no block is judged: a measured server is among the others.
    """

    def __init__(self) -> None:
        self.roots: set[int] = {os.getpid()}
        self.is_blind = False
        self._start: Reading | None = None
        self._open: list[T] = []

    def begin(self) -> None:
        if self._start is None and not self.is_blind:
            self._start = read_machine(self.roots)

    def end(self, block: T) -> list[tuple[T, MachineUse | None]]:
        if self._start is None:
            return [(block, None)]
        self._open.append(block)
        return self._close() if time.monotonic() - self._start.at_s >= WINDOW_S else []

    async def settle(self) -> list[tuple[T, MachineUse | None]]:
        """Close the window: something else will happen before the next block."""
        if self._start is None or not self._open:
            self._start = None
            return []
        await asyncio.sleep(max(0.0, self._start.at_s + SHORTEST_S - time.monotonic()))
        return self._close()

    def _close(self) -> list[tuple[T, MachineUse | None]]:
        assert self._start is not None
        now = read_machine(self.roots)
        gpu = others_on_gpus(now.pids, now.at_s - self._start.at_s)
        use = use_between(self._start, now, gpu)
        blocks, self._open, self._start = self._open, [], None
        return [(block, use) for block in blocks]


def read_machine(roots: Set[int]) -> Reading:
    """The counters now; `roots` and their children are ours."""
    cores = sorted(os.sched_getaffinity(0))
    times = psutil.cpu_times(percpu=True)
    ours = [times[core] for core in cores if core < len(times)] or times
    busy = sum(t.user + t.nice + t.system + t.irq + t.softirq for t in ours)
    own, pids = _own(roots)
    return Reading(
        time.monotonic(), len(ours), busy, own, sum(t.steal for t in ours), _throttled_s(), pids
    )


def _own(roots: Set[int]) -> tuple[float, frozenset[int]]:
    """Processor time of process trees in s, and their processes. The time of a child that has ended
    is in its parent's, so that the sum never falls."""
    seconds: dict[int, float] = {}
    for root in roots:
        try:
            top = psutil.Process(root)
            tree = [top, *top.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
        for process in tree:
            try:
                times = process.cpu_times()
            except psutil.Error:  # it has just ended, or is another user's
                continue
            seconds[process.pid] = (
                times.user + times.system + times.children_user + times.children_system
            )
    return sum(seconds.values()), frozenset(seconds)


def _throttled_s() -> float | None:
    """How long the limit of our control group has withheld the processor, s; None: no limit."""
    path = _cpu_stat()
    if path is None:
        return None
    try:
        text = path.read_text(encoding="ascii")
    except OSError:
        return None
    found = re.search(r"^throttled_(usec|time) (\d+)$", text, re.MULTILINE)
    return int(found[2]) / (1e6 if found[1] == "usec" else 1e9) if found else None


@cache
def _cpu_stat() -> Path | None:
    """`cpu.stat` of our control group, version 2 or 1."""
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        for folder in (CGROUPS, CGROUPS / "cpu", CGROUPS / "cpu,cpuacct"):
            path = folder / group.lstrip("/") / "cpu.stat"
            if path.exists():
                return path
    return None

"""What a server's processes use: GPU memory through NVML, else resident memory."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Set
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import psutil
import pynvml

from specviz.machine import gpus


@dataclass(frozen=True, slots=True)
class Usage:
    """`source` says what `memory_bytes` is of. `gpu_utilization`: share of the last sampling
    period that the busiest GPU was at work, 0 to 1; None without a GPU."""

    memory_bytes: int
    source: str
    gpu_utilization: float | None = None


def server_usage(pid: int) -> Usage | None:
    """Usage of a process and its children now; None if it has ended."""
    try:
        root = psutil.Process(pid)
        tree = [root, *root.children(recursive=True)]
        resident = sum(process.memory_info().rss for process in tree)
    except psutil.NoSuchProcess:
        return None
    if not gpus():
        return Usage(resident, "resident memory of the server's processes")
    return _gpu_usage({process.pid for process in tree})


def others_on_gpus(own: Set[int], for_s: float) -> float | None:
    """Share of time, 0 to 1, that processes other than `own` kept a GPU at work that `own` use too:
    the busiest one, over the last `for_s` seconds or as many as the driver remembers.

    None where none of `own` is on a GPU, in a container whose driver lists the host's process ids
    for example, or where the driver does not count per process.
    """
    if not gpus():
        return None
    since_us = int((time.time() - for_s) * 1e6)
    pynvml.nvmlInit()
    try:
        shares = []
        for index in range(pynvml.nvmlDeviceGetCount()):
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            running = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
            if any(process.pid in own for process in running):
                shares.append(_share_of_others(handle, own, since_us))
        known = [share for share in shares if share is not None]
        return max(known, default=None)
    finally:
        pynvml.nvmlShutdown()


def _share_of_others(handle: Any, own: Set[int], since_us: int) -> float | None:
    try:
        found = pynvml.nvmlDeviceGetProcessUtilization(handle, since_us)
    except pynvml.NVMLError_NotFound:  # nobody used it since then
        return 0.0
    except pynvml.NVMLError_NotSupported:
        return None
    used: dict[int, list[int]] = defaultdict(list)
    for sample in found:
        if sample.pid not in own:
            used[sample.pid].append(sample.smUtil)
    return min(1.0, sum(map(fmean, used.values())) / 100)


def _gpu_usage(pids: set[int]) -> Usage:
    """Memory that the processes hold on all GPUs.

    In a container the driver may list processes by the host's ids: then all memory in use on
    the GPUs is reported, and the source says so.
    """
    pynvml.nvmlInit()
    try:
        handles = [
            pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())
        ]
        of_server = [
            process.usedGpuMemory or 0
            for handle in handles
            for process in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
            if process.pid in pids
        ]
        busy = max(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu for handle in handles) / 100
        if sum(of_server):
            return Usage(sum(of_server), "GPU memory of the server's processes", busy)
        in_use = sum(pynvml.nvmlDeviceGetMemoryInfo(handle).used for handle in handles)
        return Usage(in_use, "GPU memory in use, whoever uses it", busy)
    finally:
        pynvml.nvmlShutdown()

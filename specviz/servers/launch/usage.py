"""What a server's processes use: GPU memory through NVML, else resident memory."""

from __future__ import annotations

from dataclasses import dataclass

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

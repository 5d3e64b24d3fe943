"""What a server's processes use, with and without a GPU (a stand-in for NVML: no GPU here)."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from specviz.machine import Gpu
from specviz.servers.launch import usage
from specviz.servers.launch.usage import server_usage

GIB = 1024**3


class FakeNvml:
    """Two GPUs; `processes` are those the driver names on the first."""

    def __init__(self, processes: dict[int, int | None]) -> None:
        self.processes = processes
        self.open = 0

    def nvmlInit(self) -> None:  # noqa: N802
        self.open += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open -= 1

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        return 2

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        return index

    def nvmlDeviceGetComputeRunningProcesses(self, handle: int) -> list[SimpleNamespace]:  # noqa: N802
        named = self.processes.items() if handle == 0 else ()
        return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in named]

    def nvmlDeviceGetUtilizationRates(self, handle: int) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(gpu=(73, 12)[handle])

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(used=(9 * GIB, 2 * GIB)[handle])


def with_gpus(monkeypatch: pytest.MonkeyPatch, processes: dict[int, int | None]) -> FakeNvml:
    fake = FakeNvml(processes)
    monkeypatch.setattr(usage, "pynvml", fake)
    monkeypatch.setattr(usage, "gpus", lambda: (Gpu("NVIDIA H200", 141 * GIB),) * 2)
    return fake


def test_without_a_gpu_children_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "gpus", lambda: ())
    alone = server_usage(os.getpid())
    hold = "x = bytearray(80 << 20); print('held', flush=True); input()"
    child = subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None and child.stdin is not None
    child.stdout.readline()
    together = server_usage(os.getpid())
    child.communicate(b"\n")
    assert alone is not None and together is not None
    assert together.memory_bytes - alone.memory_bytes > 70 << 20
    assert together.gpu_utilization is None and "resident" in together.source


def test_a_process_that_ended_uses_nothing() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert server_usage(child.pid) is None


def test_gpu_memory_is_the_servers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = with_gpus(monkeypatch, {os.getpid(): 3 * GIB, 1: 5 * GIB})
    used = server_usage(os.getpid())
    assert used is not None
    assert (used.memory_bytes, used.gpu_utilization) == (3 * GIB, 0.73)
    assert "server's processes" in used.source
    assert fake.open == 0


def test_where_the_driver_lists_other_processes_all_memory_is_reported_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_gpus(monkeypatch, {424242: 9 * GIB})
    used = server_usage(os.getpid())
    assert used is not None
    assert used.memory_bytes == 11 * GIB and "whoever uses it" in used.source

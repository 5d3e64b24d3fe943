"""What a server's processes use, with and without a GPU (a stand-in for NVML: no GPU here)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from specviz.machine import Gpu
from specviz.servers.launch import usage
from specviz.servers.launch.usage import others_on_gpus, server_usage

GIB = 1024**3


class FakeNvml:
    """Two GPUs; `processes` are those the driver names on the first."""

    class NVMLError_NotFound(Exception):  # noqa: N801
        pass

    class NVMLError_NotSupported(Exception):  # noqa: N801
        pass

    def __init__(self, processes: dict[int, int | None]) -> None:
        self.processes = processes
        self.open = 0
        self.utilization: Sequence[tuple[int, int]] | Exception = ()

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

    def nvmlDeviceGetProcessUtilization(self, handle: int, since_us: int) -> list[SimpleNamespace]:  # noqa: N802
        assert handle == 0, "nobody is on the second"
        if isinstance(self.utilization, Exception):
            raise self.utilization
        return [SimpleNamespace(pid=pid, smUtil=share) for pid, share in self.utilization]

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


@pytest.mark.parametrize(
    ("utilization", "share"),
    [
        ([(7, 60), (8, 20), (8, 40), (9, 10)], 0.4),  # samples of one process are averaged
        ([(7, 60)], 0.0),
        ([(8, 90), (9, 90)], 1.0),
        (FakeNvml.NVMLError_NotFound(), 0.0),
        (FakeNvml.NVMLError_NotSupported(), None),
    ],
)
def test_what_others_do_on_our_gpu(
    monkeypatch: pytest.MonkeyPatch,
    utilization: Sequence[tuple[int, int]] | Exception,
    share: float | None,
) -> None:
    fake = with_gpus(monkeypatch, {7: GIB, 8: GIB})
    fake.utilization = utilization
    assert others_on_gpus({7, 77}, 1.0) == (share if share is None else pytest.approx(share))
    assert fake.open == 0


def test_a_gpu_that_we_are_not_seen_on_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with_gpus(monkeypatch, {424242: GIB})
    assert others_on_gpus({7}, 1.0) is None
    monkeypatch.setattr(usage, "gpus", lambda: ())
    assert others_on_gpus({424242}, 1.0) is None

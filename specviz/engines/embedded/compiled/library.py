"""The compiled kernels as a library: built once per machine and version, kept, loaded.

The threads are torch's own: the library uses the OpenMP that torch has loaded, so that
`torch.set_num_threads` counts and no second pool of threads competes for the cores. That is why it
is linked without one.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor

from specviz.paths import cache_folder

SOURCE = Path(__file__).with_name("kernels.cpp")
FLAGS = (
    *("-O3", "-march=native", "-fno-math-errno", "-fno-tree-slp-vectorize"),
    *("-std=c++17", "-fopenmp", "-fPIC"),
)
OFF = "SPECVIZ_NO_COMPILE"
BUILD_S = 60.0
WIDTH = 8
"""Floats in a vector of the kernels."""

_log = logging.getLogger(__name__)


@cache
def library() -> ctypes.CDLL | None:
    """The library, built now if this machine has not built it yet (a few seconds).

    None where there is no g++, where it or the loader refuses (which is logged), or where
    `SPECVIZ_NO_COMPILE` is set.
    """
    compiler = _compiler()
    if compiler is None:
        return None
    file = cache_folder("kernels") / f"kernels-{fingerprint()}.so"
    try:
        if not file.is_file():
            _build(compiler, file)
        return _declared(ctypes.CDLL(str(file)))
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", None) or error
        _log.warning("The embedded engine runs without its compiled kernels: %s", said)
        return None


def loaded() -> ctypes.CDLL:
    """The library, for those who know that there is one."""
    found = library()
    assert found is not None
    return found


def computes(tensor: Tensor) -> bool:
    """Whether the kernels compute with tensors like this one, in vectors along its last axis."""
    plain = tensor.device.type == "cpu" and tensor.dtype is torch.float32
    return plain and tensor.shape[-1] % WIDTH == 0 and library() is not None


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    pointer, size = ctypes.c_void_p, ctypes.c_int64
    library.linear.argtypes = (pointer, pointer, size, pointer, ctypes.c_int)
    library.rms_norm.argtypes = (pointer, pointer, size, size, ctypes.c_float, pointer)
    library.attention.argtypes = (*[pointer] * 7, ctypes.c_int)
    library.mlp.argtypes = (pointer, pointer, size, pointer, ctypes.c_int)
    for function in (library.linear, library.rms_norm, library.attention, library.mlp):
        function.restype = None
    return library


def _build(compiler: str, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=file.parent) as folder:
        built, linked = Path(folder, "kernels.o"), Path(folder, file.name)
        for arguments in (
            [*FLAGS, "-c", str(SOURCE), "-o", str(built)],
            ["-shared", str(built), "-o", str(linked)],  # without OpenMP
        ):
            subprocess.run(
                [compiler, *arguments], check=True, capture_output=True, text=True, timeout=BUILD_S
            )
        linked.replace(file)  # another process may be building it too


def _compiler() -> str | None:
    return None if os.environ.get(OFF) else shutil.which("g++")


def fingerprint() -> str:
    """Hash of the source, the compiler, if there is one, and the processor: different machines
    share home folders."""
    compiler = _compiler()
    built = f"{FLAGS} {compiler} {os.stat(compiler).st_mtime_ns}" if compiler else ""
    found = hashlib.sha256(SOURCE.read_bytes())
    found.update(f"{built} {_processor()}".encode())
    return found.hexdigest()[:16]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.platform()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")

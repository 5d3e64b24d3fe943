"""What this machine can run and what is missing, one finding after another.

Nothing is started or imported for it: a finding takes milliseconds, except the deep check of vLLM.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from specviz import machine
from specviz.errors import StoreError
from specviz.machine import GIB
from specviz.models.listed import listed
from specviz.models.pair import default_folder, default_model
from specviz.store import Lake, Location, default_location
from specviz.store.file.lake import EXTENSIONS, extension
from specviz.store.owner import read_owner, sidecar

SERVER_GIB = 1.5  # a vLLM server with smollm2 on the CPU
PYTHONS = ((3, 11), (3, 12), (3, 13))  # those of pyproject.toml and of the locks
SPARE_DISK_GIB = 1.0  # ten million stored decisions take about a quarter of it
IMPORT_LIMIT_S = 180
REINSTALL = (
    "Remove .venv and run make install: it takes what fits this machine, or explains why not."
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact: `ok` None is neither good nor bad; `advice`: what to do if it is not good."""

    name: str
    ok: bool | None
    detail: str
    advice: str | None = None


def examine(
    *, store: Location | None = None, port: int | None = None, deep: bool = False
) -> list[Finding]:
    """Look at this machine.

    `store` and `port` are those of the app unless given (SPECVIZ_STORE, SPECVIZ_PORT). `deep`
    also imports vLLM, in a separate process: some ten seconds.
    """
    store = store or default_location()
    return [
        python_found(),
        hardware_found(),
        disk_found(store),
        gpu_found(),
        torch_found(),
        compiler_found(),
        models_found(),
        vllm_import_found() if deep else vllm_found(),
        llama_cpp_found(),
        servers_found(),
        store_found(store) if isinstance(store, Path) else lake_found(store),
        extensions_found(),
        port_found(port or int(os.environ.get("SPECVIZ_PORT", "8501"))),
        chromium_found(),
    ]


def python_found() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    ok = sys.version_info[:2] in PYTHONS
    advice = None if ok else "Use Python 3.11, 3.12 or 3.13: the locks are made for these."
    return Finding("Python", ok, version, advice)


def hardware_found() -> Finding:
    memory = psutil.virtual_memory()
    return Finding(
        "Processor and memory",
        None,
        f"{machine.cpu_count()} × {machine.cpu_name()}, "
        f"{memory.available / GIB:.1f} of {memory.total / GIB:.1f} GiB free",
    )


def disk_found(store: Location) -> Finding:
    folder = store.folder if isinstance(store, Lake) else store.parent
    if folder is None:
        return Finding("Disk", None, "runs are on S3")
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(existing).free / GIB
    ok = free >= SPARE_DISK_GIB
    advice = None if ok else "Make room, or put the runs elsewhere with SPECVIZ_STORE."
    return Finding("Disk", ok, f"{free:.0f} GiB free for runs in {folder}", advice)


def gpu_found() -> Finding:
    if machine.gpus():
        return Finding("GPU", True, machine.gpu_summary())
    return Finding("GPU", None, "no NVIDIA driver: models run on the processor")


def torch_found() -> Finding:
    version = machine.torch_version()
    if version is None:
        return Finding("torch", False, "not installed", REINSTALL)
    return Finding("torch", True, f"{version}, {_device(version)} build")


def compiler_found() -> Finding:
    name = "C++ compiler"
    if shutil.which("g++"):
        detail = "g++: the embedded engine's greedy output is plain decoding's, bit for bit"
        return Finding(name, True, detail)
    detail = "no g++: a near tie of the embedded engine's greedy output can go either way"
    return Finding(name, None, detail, "Install g++ (Debian, Ubuntu: apt install g++).")


def models_found() -> Finding:
    """The default model, and the drafts that fit it."""
    name = default_model()
    found = listed(default_folder())
    if not (found.written or found.source):
        return Finding("Model", False, f"{name} is not on this machine", REINSTALL)
    drafts = ", ".join(found.drafts or ()) or "none"
    where = f"{found.path}; drafts: {drafts}" if found.written else "written at the first run"
    return Finding("Model", True, f"{name}, {where}")


def vllm_found() -> Finding:
    version = machine.vllm_version()
    if version is None:
        detail = "not installed: the app works with servers elsewhere and with stored runs"
        return Finding("vLLM", False, detail, REINSTALL)
    device = _device(version)
    fits = device == ("CUDA" if machine.gpus() else "CPU")
    detail = f"{version}, {device} build" + ("" if fits else f", and {machine.gpu_summary()}")
    return Finding("vLLM", fits or device == "CPU", detail, None if fits else REINSTALL)


def vllm_import_found() -> Finding:
    """As `vllm_found`, after importing vLLM in a separate process."""
    finding = vllm_found()
    if not finding.ok:
        return finding
    start = time.monotonic()
    try:
        subprocess.run(
            [sys.executable, "-c", "import vllm.entrypoints.openai.api_server"],
            capture_output=True,
            text=True,
            check=True,
            timeout=IMPORT_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        reason = f"import did not end within {IMPORT_LIMIT_S} s"
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1]
    else:
        seconds = time.monotonic() - start
        detail = f"{finding.detail}, imported in {seconds:.1f} s"
        return Finding("vLLM", True, detail, finding.advice)
    detail = f"{finding.detail}, cannot be imported: {reason}"
    return Finding("vLLM", False, detail, REINSTALL)


def llama_cpp_found() -> Finding:
    """llama.cpp's server, which the package xllamacpp has."""
    version = machine.package_version("xllamacpp")
    if version is None:
        return Finding("llama.cpp", False, "not installed: xllamacpp is missing", REINSTALL)
    return Finding("llama.cpp", True, f"xllamacpp {version}, runs on the processor")


def servers_found() -> Finding:
    """How many servers fit into the memory that is free now."""
    if machine.vllm_version() is None:
        return Finding("Servers", None, "without vLLM only those of llama.cpp")
    count = int(psutil.virtual_memory().available / GIB / SERVER_GIB)
    detail = f"memory for {count} of vLLM at once, {SERVER_GIB} GiB each"
    advice = None if count else "End other programs, or use a server elsewhere by its URL."
    return Finding("Servers", count > 0, detail, advice)


def store_found(path: Path) -> Finding:
    """The database of the runs, and which process has it open."""
    size = f"{_megabytes(path)} MB" if path.exists() else "not there yet, the first run makes it"
    detail = f"{path}, {size}"
    if not sidecar(path).exists():
        return Finding("Runs", True, detail)
    owner = read_owner(path, None)
    if owner.pid is None or not psutil.pid_exists(owner.pid):
        return Finding("Runs", True, f"{detail}; its last owner ended without closing it")
    where = f"the app at {owner.url}" if owner.url else "a command"
    return Finding("Runs", True, f"{detail}; open in {where} (process {owner.pid})")


def lake_found(lake: Lake) -> Finding:
    """A shared store; it is not connected to here, because that would make or migrate it."""
    return Finding("Runs", None, f"shared in {lake}")


def extensions_found() -> Finding:
    """What DuckDB needs besides itself for a shared store."""
    try:
        for name in EXTENSIONS:
            extension(name)
    except StoreError as error:
        return Finding("Shared store", None, "some of DuckDB's extensions are missing", str(error))
    return Finding("Shared store", True, f"DuckDB's extensions {', '.join(EXTENSIONS)} are there")


def port_found(port: int) -> Finding:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            advice = "If that is not the app, choose another with SPECVIZ_PORT."
            return Finding("Port", None, f"{port} cannot be used: {error.strerror}", advice)
    return Finding("Port", True, f"{port} is free")


def chromium_found() -> Finding:
    path = machine.find_chromium()
    if path is None:
        return Finding("Chromium", None, "not found", "Only make test needs it: install chromium.")
    return Finding("Chromium", True, f"{path}, for the browser tests")


def _device(version: str) -> str:
    return "CPU" if version.endswith("+cpu") else "CUDA"


def _megabytes(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f}"

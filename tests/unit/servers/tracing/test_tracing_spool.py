from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from specviz.paths import PROJECT_ROOT
from specviz.servers.vllm.tracing import spool
from specviz.servers.vllm.tracing.keys import new_key


def wait_for_lines(path: Path, count: int) -> list[dict[str, int]]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists() and len(lines := path.read_text().splitlines()) >= count:
            return [json.loads(line) for line in lines]
        time.sleep(0.01)
    pytest.fail(f"{path} did not get {count} lines")


@pytest.fixture
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv(spool.FOLDER_VARIABLE, raising=False)
    return tmp_path


def test_lines_are_appended_in_order_to_a_private_file(tmp_path: Path) -> None:
    writer, key = spool.SpoolWriter(tmp_path), new_key()
    for step in range(20):
        writer.append(key, lambda step=step: {"step": step})  # type: ignore[misc]
    path = spool.trace_path(tmp_path, key)
    assert [line["step"] for line in wait_for_lines(path, 20)] == list(range(20))
    assert path.stat().st_mode & 0o077 == 0


def test_a_finished_trace_can_be_taken_up_again(tmp_path: Path) -> None:
    writer, key = spool.SpoolWriter(tmp_path), new_key()
    writer.append(key, lambda: {"step": 0})
    writer.finish(key)
    writer.append(key, lambda: {"step": 1})
    assert len(wait_for_lines(spool.trace_path(tmp_path, key), 2)) == 2


def test_a_line_that_cannot_be_made_is_reported_and_the_next_is_written(tmp_path: Path) -> None:
    writer, key = spool.SpoolWriter(tmp_path), new_key()
    writer.append(key, lambda: {"step": [][0]})
    writer.append(key, lambda: {"step": 1})
    first, second = wait_for_lines(spool.trace_path(tmp_path, key), 2)
    assert "IndexError" in str(first["error"]) and second == {"step": 1}


def test_one_trace_cannot_fill_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MAX_TRACE_BYTES", 100)
    writer, key, last = spool.SpoolWriter(tmp_path), new_key(), new_key()
    for _ in range(50):
        writer.append(key, lambda: {"step": 1})
    writer.append(last, lambda: {"step": 1})
    wait_for_lines(spool.trace_path(tmp_path, last), 1)
    assert spool.trace_path(tmp_path, key).stat().st_size < 120


def test_old_traces_and_the_oldest_beyond_the_limit_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "MAX_SPOOL_BYTES", 250)
    now = time.time()
    ages = {"abandoned": 400.0, "oldest": 30.0, "older": 20.0, "newest": 10.0}
    for name, age_s in ages.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("x" * 100)
        os.utime(path, (now - age_s, now - age_s))
    spool.remove_old_traces(tmp_path)
    assert {path.stem for path in tmp_path.glob("*.jsonl")} == {"older", "newest"}


def test_the_handshake_survives_the_round_trip(tmp_path: Path) -> None:
    assert spool.read_handshake(tmp_path) is None
    spool.write_handshake(tmp_path, {"tracing": True})
    assert spool.read_handshake(tmp_path) == {"tracing": True}
    assert [path.name for path in tmp_path.iterdir()] == ["handshake.json"]


def test_the_folder_is_private_shared_with_children_and_removed(temp: Path) -> None:
    code = (
        "from specviz.servers.vllm.tracing import spool; import os, stat\n"
        "folder = spool.open_folder()\n"
        "assert spool.open_folder() == folder == type(folder)(os.environ[spool.FOLDER_VARIABLE])\n"
        "print(oct(stat.S_IMODE(folder.stat().st_mode)), folder)"
    )
    env = {**os.environ, "TMPDIR": str(temp)}
    # -S: no site-packages, so this also shows that the spool needs the standard library alone.
    run = [sys.executable, "-S", "-c", code]
    out = subprocess.run(run, env=env, cwd=PROJECT_ROOT, capture_output=True, text=True, check=True)
    mode, folder = out.stdout.split()
    assert mode == "0o700" and not Path(folder).exists()


def test_folders_of_dead_servers_are_removed(temp: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    dead, alive = (temp / f"{spool.FOLDER_PREFIX}{pid}-x" for pid in (child.pid, os.getpid()))
    dead.mkdir()
    alive.mkdir()
    spool.remove_abandoned_folders()
    assert not dead.exists() and alive.exists()


def test_the_plugin_imports_without_any_other_package() -> None:
    modules = "plugin, hooks, recorder, verdicts, drafter, fixes, lines, routes"
    code = f"from specviz.servers.vllm.tracing import {modules}"
    subprocess.run([sys.executable, "-S", "-c", code], cwd=PROJECT_ROOT, check=True)

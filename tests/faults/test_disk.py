"""A full disk and a read-only one, on a small file system of their own (root may mount one)."""

from __future__ import annotations

import asyncio
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from specviz import runtime
from specviz.commands.benchmark import run as bench_run
from specviz.config import Prompt, RunConfig, Sampling
from specviz.errors import StoreError
from specviz.opening import TimedArm
from specviz.sample import Sample
from specviz.store import open_store
from specviz.trace import Fidelity
from tests.support.store.samples import new_run, record, request_events

SIZE_KIB = 3072
ROOM_KIB = 256
"""What is left when a benchmark begins: its rows need more."""

PLAN = """
name = "full"
warmup = 0
[prompts]
file = "{prompts}"
format = "spec-bench"
[[arms]]
engine = "embedded"
method = "baseline"
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A mounted tmpfs of three MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = mount(folder, f"size={SIZE_KIB}k")
    if mounted.returncode:
        pytest.skip(f"mounting is not permitted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def mount(folder: Path, options: str) -> subprocess.CompletedProcess[str]:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


class Verbose:
    """An engine whose answers do not compress: 20 of them are more than the disk has room for."""

    async def sample(self, prompt: Prompt, sampling: Sampling) -> Sample:
        await asyncio.sleep(0.05)
        text = "".join(uuid.uuid4().hex for _ in range(4000))
        return Sample(
            uuid.uuid4().hex, Fidelity.COUNTED, text, "stop", 1.0, 2.0, (1.0, 2.0), (1, 1), (5, 6),
            2, 4, (), (),
        )  # fmt: skip

    async def counters(self) -> None:
        return None

    async def prefix_caching(self) -> bool:
        return False

    async def close(self) -> None:
        return None


@contextmanager
def verbose_arms() -> Iterator[Any]:
    async def open_arm(config: RunConfig, note: object) -> TimedArm:
        engine: Any = Verbose()
        return TimedArm(engine, config, None, engine.counters, lambda: None)

    yield open_arm


def test_a_benchmark_names_the_full_disk(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text(
        "\n".join(f'{{"question_id": {index}, "turns": ["number {index}"]}}' for index in range(20))
    )
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(prompts=prompts))
    store = disk / "runs.duckdb"
    open_store(store).close()
    used = sum(file.stat().st_size for file in disk.iterdir()) // 1024
    (disk / "ballast").write_bytes(b"\0" * 1024 * (SIZE_KIB - used - ROOM_KIB))
    monkeypatch.setattr(
        bench_run.runtime, "opened", partial(runtime.opened, timed_arms=verbose_arms)
    )
    assert bench_run.run_bench(plan, store, None, as_json=False) == 1
    said = capsys.readouterr().err
    assert "No space left on device" in said and "Its disk is full: make room there" in said
    assert "--resume" in said
    (disk / "ballast").unlink()
    with open_store(store):
        pass  # nothing is damaged


def test_a_full_disk_is_named_where_no_database_fits(disk: Path) -> None:
    (disk / "ballast").write_bytes(b"\0" * 1024 * (SIZE_KIB - 8))
    with pytest.raises(StoreError, match="Its disk is full: make room there, or set SPECVIZ_STORE"):
        open_store(disk / "runs.duckdb")


def test_a_read_only_file_system_is_not_called_damage(disk: Path) -> None:
    store = disk / "runs.duckdb"
    with open_store(store) as opened:
        record(opened, new_run(), request_events(2))
    before = sorted(disk.iterdir())
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    for path in (store, disk / "new.duckdb"):
        with pytest.raises(StoreError) as refused:
            open_store(path)
        sentence = str(refused.value)
        assert "Its file system is read-only: make it writable" in sentence
        assert "SPECVIZ_STORE" in sentence
        assert not any(word in sentence for word in ("damage", "copy", "import", "Errno"))
    assert sorted(disk.iterdir()) == before

"""The machine misbehaves: the clock goes back, the database's file goes, a folder is read-only."""

from __future__ import annotations

import asyncio
import datetime as real
import logging
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specviz.config import Prompt, RunStatus, Sampling
from specviz.errors import StoreError
from specviz.live import record as live_record
from specviz.servers.vllm.tracing import hooks, routes, spool
from specviz.store import open_store
from specviz.store import store as store_module
from specviz.store.exchange import Format, export, import_file
from specviz.store.runs import recorder
from specviz.store.runs.runs import read_requests, read_run
from specviz.trace import Event
from tests.support.store.samples import frame_of, new_run, num_runs, record, request_events


class Scripted:
    async def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncIterator[Event]:
        for event in request_events(5):
            yield event


def test_durations_do_not_come_from_a_clock_that_goes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look at the clock is an hour earlier than the one before."""

    class Back(real.datetime):
        looked = 0

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            cls.looked += 1
            return real.datetime.now(tz) - real.timedelta(hours=cls.looked)

    for module in (store_module, recorder):
        monkeypatch.setattr(module, "datetime", Back)
    path = tmp_path / "runs.duckdb"
    with open_store(path) as store:
        engine: Any = Scripted()
        run = new_run(run_id="back")
        outcome = asyncio.run(live_record.answer(engine, run, Prompt("p"), store, lambda e: None))
        assert outcome.status is RunStatus.FINISHED
        (request,) = store.read(read_requests, "back")
        assert (request.ttft_ms, request.e2el_ms) == (10.0, 50.0)
        store.start_run(new_run(run_id="lost", started_at=real.datetime.now(real.UTC)))
    with open_store(path) as store:  # it was started after what is now
        assert Back.looked >= 2
        assert store.read(read_run, "lost").status is RunStatus.PARTIAL
        export(store, None, Format.JSONL, tmp_path / "all.jsonl")
    with open_store(tmp_path / "other.duckdb") as other:
        assert len(import_file(other, tmp_path / "all.jsonl").stored["run"]) == 2


@pytest.mark.parametrize("replaced", [False, True])
def test_a_removed_database_takes_nothing_that_would_be_lost(
    tmp_path: Path, replaced: bool
) -> None:
    path, kept = tmp_path / "runs.duckdb", tmp_path / "kept.duckdb"
    with open_store(path) as store:
        record(store, new_run(run_id="before"), request_events(3))
        for file in (path, path.with_name("runs.duckdb.wal")):
            shutil.move(file, file.with_name(file.name.replace("runs", "kept")))
        if replaced:
            path.write_bytes(b"something else")
        with pytest.raises(StoreError, match="removed or replaced while specviz has it open"):
            record(store, new_run(run_id="after"), request_events(3))
        assert store.read(num_runs) == 1  # what was there can be read and exported
        export(store, None, Format.JSONL, tmp_path / "all.jsonl")
        path.unlink(missing_ok=True)
        shutil.move(kept, path)
        with pytest.raises(StoreError, match="start specviz again"):
            store.start_run(new_run(run_id="again"))
    with open_store(path) as store:
        assert set(store.read(frame_of, "SELECT run_id FROM runs")["run_id"]) == {"before"}


def test_a_recorder_says_that_the_database_is_gone(tmp_path: Path) -> None:
    """An answer that is streaming goes on and its outcome has the reason."""
    path = tmp_path / "runs.duckdb"
    with open_store(path) as store:
        run = new_run(run_id="run")

        class Removing(Scripted):
            async def generate(self, prompt: Prompt, sampling: Sampling) -> AsyncIterator[Event]:
                path.unlink()
                async for event in super().generate(prompt, sampling):
                    yield event

        engine: Any = Removing()
        seen: list[Event] = []
        outcome = asyncio.run(live_record.answer(engine, run, Prompt("p"), store, seen.append))
        assert len(seen) == len(request_events(5))
        assert outcome.error is not None and "removed or replaced" in outcome.error


@pytest.fixture
def no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nowhere to put a folder: what should hold it is a file."""
    blocked = tmp_path / "temporary"
    blocked.write_text("a file")
    monkeypatch.setattr(tempfile, "tempdir", str(blocked))
    monkeypatch.setenv("TMPDIR", str(blocked))
    monkeypatch.delenv(spool.FOLDER_VARIABLE, raising=False)
    return blocked


def test_a_server_without_a_folder_for_traces_says_why(no_folder: Path) -> None:
    folder = spool.open_folder()
    assert spool.FOLDER_VARIABLE not in os.environ
    report = routes.no_report(folder)
    assert report["tracing"] is False
    assert f"{no_folder}/{spool.FOLDER_PREFIX}none, cannot be written" in report["reason"]


def test_a_worker_without_a_folder_for_traces_serves(
    no_folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hooks, "apply_fixes", lambda runner: [])
    monkeypatch.setattr(hooks, "_install_hooks", None)  # never called: nothing is hooked
    monkeypatch.setattr(hooks, "describe", lambda runner, fixes, reason: {"reason": reason})
    with caplog.at_level(logging.ERROR):
        hooks.install(SimpleNamespace(), spool.open_folder())
    assert "cannot be written: set TMPDIR" in caplog.text


def test_a_folder_for_traces_that_goes_while_the_server_runs_costs_traces_only(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    writer = spool.SpoolWriter(folder)
    writer.append("a" * 32, lambda: {"step": 0})
    shutil.rmtree(folder, ignore_errors=True)
    for step in range(3):
        writer.append("b" * 32, lambda: {"step": step})  # noqa: B023
    folder.mkdir(exist_ok=True)
    writer.append("c" * 32, lambda: {"step": 9})
    deadline = time.monotonic() + 120
    while not (folder / f"{'c' * 32}.jsonl").exists():
        assert time.monotonic() < deadline, "the writer's thread has ended"
        time.sleep(0.01)

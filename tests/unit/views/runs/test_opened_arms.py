"""What an opened run is given: its arms, each with one of its requests."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from specviz.config import EngineKind, Prompt, Run, RunConfig, RunStatus
from specviz.methods import Method
from specviz.store import open_store
from specviz.store.runs import runs as run_reads
from specviz.views.runs import opened
from tests.support.store.made import made


def test_an_opened_run_reads_one_request_and_counts_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of a benchmark has thousands of them."""
    read: list[str] = []
    plain = run_reads.request_of
    monkeypatch.setattr(
        run_reads, "request_of", lambda row: read.append(row["request_id"]) or plain(row)
    )
    monkeypatch.setattr(opened, "read_titles", None)
    monkeypatch.setattr(run_reads, "RequestTitle", None)
    config = RunConfig(EngineKind.EMBEDDED, Method.NGRAM, k=3)
    with open_store(made(tmp_path / "runs.duckdb")) as store:
        store.start_run(Run("run", "group", config, RunStatus.RUNNING, datetime.now(UTC)))
        for number in range(3):
            store.recorder("run", Prompt(f"prompt {number}")).finish(RunStatus.FAILED)
        (arm,) = opened.opened_arms(store, [store.read(run_reads.read_run, "run")], place=1)
    assert (arm.num_requests, arm.request.prompt.text) == (3, "prompt 1")
    assert read == [arm.request.request_id]

"""Decisions are counted by reason, over all engines of a server."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from specviz.servers.vllm.scheduler import counts
from specviz.servers.vllm.scheduler.counts import CountsFile, DecisionsCollector, read, write


def test_what_is_counted_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = threading.Event()
    monkeypatch.setattr(counts, "write", lambda *args: (write(*args), written.set()))
    CountsFile(tmp_path).add(["min_p", "min_p", "asked"])
    assert written.wait(60)
    assert read(tmp_path) == {"min_p": 2, "asked": 1}


def test_the_engines_are_added_up_under_the_metrics_name(tmp_path: Path) -> None:
    write(tmp_path / "decisions.1.json", {"policy: temperature ≤ 0.7, 1 running": 3, "min_p": 1})
    write(tmp_path / "decisions.2.json", {"min_p": 4})
    registry = CollectorRegistry()
    registry.register(DecisionsCollector(tmp_path))
    page = generate_latest(registry).decode()
    assert 'specviz_policy_decisions_total{reason="min_p"} 5.0' in page
    reason = "policy: temperature ≤ 0.7, 1 running"
    assert f'specviz_policy_decisions_total{{reason="{reason}"}} 3.0' in page

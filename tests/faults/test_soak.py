"""After the first minutes an app in use holds no more than before: memory, descriptors, threads.

Ten minutes here; `python -m benchmarks.soak` takes an hour.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kept_figures import keep
from soak import House, Sample, as_figures, growth, soak, store_a_run

from benchmarks.started.app import started_app
from benchmarks.started.chromium import HEADLESS_SHELL, chromium
from specviz.methods import Method
from specviz.paths import DEMO_DRAFT, DEMO_TARGET
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import start_server
from specviz.servers.vllm.dialect import LAUNCHER
from specviz.servers.vllm.tracing.spool import FOLDER_VARIABLE

MINUTES = float(os.environ.get("SPECVIZ_SOAK_MINUTES", "10"))
WARM_UP_S = min(600.0, 60 * MINUTES / 2.5)
MEMORY_GROWTH = 1.10
OTHER_GROWTH = {"descriptors": 8, "threads": 8, "processes": 1, "spool_files": 4, "work_files": 2}
"""What comes and goes: pooled connections and threads, a command's trace that is being read."""


@pytest.mark.slow
@pytest.mark.timeout(60 * MINUTES + 600)
def test_what_an_app_in_use_holds_stays_flat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = tmp_path / "spool"
    spool.mkdir(mode=0o700)
    monkeypatch.setenv(FOLDER_VARIABLE, str(spool))
    (tmp_path / "kept").mkdir()
    store = tmp_path / "kept" / "runs.duckdb"
    store_a_run(store)
    spec = ServerSpec(LAUNCHER, str(DEMO_TARGET), Method.DRAFT_MODEL, str(DEMO_DRAFT), 4)
    server = start_server(spec, log_dir=tmp_path, on_progress=print)
    try:
        with (
            started_app(store, tmp_path / "app.log") as url,
            chromium(executable=HEADLESS_SHELL) as browser,
        ):
            house = House(url, store, server.url, spool)
            samples: list[Sample] = []
            for sample in soak(house, browser, MINUTES):
                samples.append(sample)
                print(sample, flush=True)
    finally:
        server.stop()
    keep("soak", **as_figures(samples, WARM_UP_S))
    held = growth(samples, WARM_UP_S)
    assert held["memory_mib"][1] < MEMORY_GROWTH * held["memory_mib"][0], held
    for name, allowed in OTHER_GROWTH.items():
        assert held[name][1] <= held[name][0] + allowed, (name, held)
    assert "Traceback" not in (tmp_path / "app.log").read_text()

"""After the first minutes an app in use holds no more than before: memory, descriptors, threads.

Ten minutes here; `python -m benchmarks.soak` takes an hour.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from benchmarks.started.app import started_app
from benchmarks.started.chromium import HEADLESS_SHELL, chromium
from specviz.methods import Method
from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import start_server
from specviz.servers.vllm.dialect import LAUNCHER
from specviz.servers.vllm.tracing.spool import FOLDER_VARIABLE
from tests.support.demo_models import DEMO_DRAFT, DEMO_TARGET
from tests.support.faults.kept_figures import keep
from tests.support.faults.soak import House, Sample, as_figures, growth, soak, store_a_run, warm

MINUTES = float(os.environ.get("SPECVIZ_SOAK_MINUTES", "10"))
WARM_UP_S = min(600.0, 60 * MINUTES / 2.5)
MEMORY_GROWTH = 1.10
LEAST_SAMPLES = 12
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
    assert unexpected((tmp_path / "app.log").read_text()) == []
    compared = warm(samples, WARM_UP_S)
    if len(compared) < LEAST_SAMPLES:
        pytest.skip(f"{len(samples)} rounds in {MINUTES:g} minutes: too few to see growth")
    keep("soak", **as_figures(samples, WARM_UP_S))
    held = growth(compared)
    assert held["memory_mib"][1] < MEMORY_GROWTH * held["memory_mib"][0], held
    for name, allowed in OTHER_GROWTH.items():
        assert held[name][1] <= held[name][0] + allowed, (name, held)


REPLACED = re.compile(r"streamlit/runtime/state.*RuntimeError:dictionarychangedsize", re.DOTALL)
"""Streamlit gives each run of a script a lock of its own for the session's state. A run that a
click has replaced may read it while its successor changes it; what it sends is no longer shown, and
the pages are looked at for exceptions (`soak.py`). With `runner.fastReruns` off, which excludes
this, a click waits for the run before."""


def unexpected(log: str) -> list[str]:
    """The tracebacks in the app's log but those of replaced runs, without spaces and colours."""
    plain = re.sub(r"\x1b\[[0-9;]*m|\s+", "", log)  # lines are as wide as a terminal, paths are not
    found = plain.split("Traceback(mostrecentcalllast)")[1:]
    return [one for one in found if not REPLACED.search(one)]


def test_tracebacks_in_a_log_are_found() -> None:
    replaced = "File streamlit/runtime/state/s.py\nRuntimeError: dictionary changed size during it"
    ours = "File specviz/runtime.py\nKeyError: 1\n"
    head = "\x1b[31mTraceback \x1b[2m(most recent call last)\x1b[0m"
    assert unexpected("URL: http://127.0.0.1\n") == []
    assert unexpected(f"{head}{replaced}") == []
    assert len(unexpected(f"{head}{replaced}{head}{ours}{head}{ours}")) == 2

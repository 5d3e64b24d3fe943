"""How tests share two cores, and `pytest --round-trip`.

`make test` runs three workers, in the order of the folders: tests that share a browser, a database
or servers go to one worker, one after the other, and are begun first; all other files go to
whichever is done, the many short ones last. Long draws share nothing and go one by one.

`--round-trip`: every database that the tests left is exported and imported again.

Where torch is not installed, the files that import it are skipped.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

# One thread in each worker and each server that a test starts: with more, workers take turns on
# two cores, spinning, and the demo models are too small to gain (a vLLM server's 100 tokens took
# 1.4 s with one thread and 1.1 to 1.3 s with two, at half the processor time).
for name, value in (
    ("OMP_NUM_THREADS", "1"), ("VLLM_CPU_OMP_THREADS_BIND", "nobind"), ("LLAMA_ARG_THREADS", "1")
):  # fmt: skip
    os.environ.setdefault(name, value)

# The model of tests that name none: answers in a millisecond a token, and has every draft.
os.environ["SPECVIZ_MODEL"] = str(Path(__file__).parent / "models" / "demo-target")

# requirements/app.lock leaves these out, and whole files of tests import them.
ENGINES_MISSING = re.compile(r"No module named '(torch|transformers|safetensors|vllm|fastapi)'")
collect_ignore = [] if find_spec("torch") else ["unit/engines/embedded"]  # so does its conftest.py


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--round-trip", action="store_true",
        help="at the end, export every database in the tests' folders and import it into an "
        "empty one: all rows must come back",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # as in a shell's background job; the commands that tests start would ignore Ctrl-C too
        signal.signal(signal.SIGINT, signal.default_int_handler)
    chosen = re.search(r"(?<!not )\b(slow|long|hypothesis)\b", config.option.markexpr)
    if chosen and not config.getoption("--hypothesis-profile"):
        settings.load_profile("thorough")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing that collection makes is garbage: looking through it takes a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def own_main_module() -> Iterator[None]:
    """Streamlit's AppTest leaves its script behind as `__main__`, and processes that later tests
    start by `spawn` would run it first, and die."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new database, to be copied: making one takes six times as long as opening it."""
    from specviz.store import open_store

    path: Path = tmp_path_factory.mktemp("empty") / "runs.duckdb"
    with open_store(path):
        pass
    return path


# Properties are about results: how long one example takes says how busy the machine is.
# `--hypothesis-profile thorough` takes more examples of each, and so do `-m slow` and `-m long`.
for name, examples in (("specviz", 20), ("thorough", 200)):
    settings.register_profile(
        name, max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("specviz")

TOGETHER = ("tests/e2e/", "tests/integration/lake/", "tests/integration/shared_servers/")
"""Folders whose tests share a browser, a PostgreSQL or servers."""


class RealPartsTogether(LoadScopeScheduling):
    """Tests that share a browser, a database or servers are one scope, and any other file is one.
    Each long draw is a scope.

    xdist's own groups (`loadgroup`) have no effect under pytest 9.2, which ignores the ids that
    they write.
    """

    def _split_scope(self, nodeid: str) -> str:
        for folder in TOGETHER:
            if nodeid.startswith(folder):
                return folder
        is_draw = self.config.option.markexpr == "long"
        return nodeid if is_draw else nodeid.split("::", 1)[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> RealPartsTogether:
    return RealPartsTogether(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    missing = report.failed and ENGINES_MISSING.search(str(report.longrepr))
    if missing and find_spec("torch") is None:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, f"Skipped: {missing[0]}")
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    is_worker = hasattr(session.config, "workerinput")
    if is_worker or not session.config.getoption("--round-trip"):
        return
    base: Path = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    reported = round_trips(sorted(base.rglob("*.duckdb")))
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    reporter.write_line(
        f"\n{reported['same']} databases came back, {reported['unread']} cannot be opened"
    )
    for line in reported["differ"]:
        reporter.write_line(line, red=True)
    if reported["differ"]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def round_trips(files: list[Path]) -> dict[str, object]:
    """How many came back, how many cannot be opened (damaged on purpose), which differ and why."""
    from specviz.errors import StoreError
    from specviz.store import open_store
    from tests.support.store.round_trip import assert_round_trip

    same, unread, differ = 0, 0, []
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            for one in (file, file.with_name(f"{file.name}.wal")):
                if one.exists():
                    shutil.copy(one, folder)
            try:
                store = open_store(Path(folder) / file.name)
            except StoreError:
                unread += 1
                continue
            with store:
                try:
                    assert_round_trip(store)
                    same += 1
                except (AssertionError, StoreError) as error:
                    if "Corrupt" in str(error):
                        unread += 1
                    else:
                        differ.append(f"{file}: {error}"[:500])
    return {"same": same, "unread": unread, "differ": differ}

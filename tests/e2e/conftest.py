"""Every test here drives a browser: one for all of them, and so are the apps that files share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz.fleet.named import add_named, as_typed
from specviz.store import open_store
from tests.support.apps.process import APPS, ROOT, running_app
from tests.support.browsers import browsing, no_traceback, page  # noqa: F401
from tests.support.runs.samples import fill

chromium, context = browsing("package")


@pytest.fixture(scope="package")
def store_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "runs.duckdb"


@pytest.fixture(scope="package")
def app_url(store_path: Path) -> Iterator[str]:
    """The app as it is; its store takes the runs of whatever file is next."""
    log = store_path.with_name("app.log")
    with running_app(ROOT / "app.py", log, SPECVIZ_STORE=str(store_path)) as url:
        yield url


@pytest.fixture(scope="package")
def bare_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app without a sample, for what needs no stored benchmark; its arms replay traces."""
    folder = tmp_path_factory.mktemp("bare")
    store = str(folder / "runs.duckdb")
    with running_app(APPS / "embedded.py", folder / "app.log", SPECVIZ_STORE=store) as url:
        yield url


@pytest.fixture(scope="package")
def runs_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The Runs page over a store as somebody left it: five lines, of which r1 and r2 stay."""
    folder = tmp_path_factory.mktemp("runs")
    store = folder / "runs.duckdb"
    fill(store)
    with open_store(store) as opened:
        add_named(opened, as_typed("gpu-1", "http://127.0.0.1:9", labels=["GPU box"]))
    with running_app(APPS / "embedded.py", folder / "app.log", SPECVIZ_STORE=str(store)) as url:
        yield f"{url}/runs"

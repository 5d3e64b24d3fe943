"""Fixtures of tests with real servers: vLLM's for one file, a client, a browser, PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from specviz.servers.launch.launcher import ServerSpec
from specviz.servers.launch.server import Server
from tests.support.browsers import app_url, browsing, no_traceback, page, store_path  # noqa: F401
from tests.support.servers.vllm_servers import (
    BASELINE,
    Ask,
    read_counters,
    running,
    send,
    server_fixture,
)
from tests.support.store.postgres import empty, files, postgres  # noqa: F401

chromium, context = browsing("module")
baseline_server = server_fixture(BASELINE, "module")


@pytest.fixture(scope="session")
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("vllm-logs")


@pytest.fixture(scope="module")
def start(log_dir: Path) -> Iterator[Callable[[ServerSpec], Server]]:
    """Start any other server; it runs until the file's tests end or the test stops it."""
    with ExitStack() as stack:
        yield lambda spec: stack.enter_context(running(spec, log_dir))


@pytest.fixture(scope="session")
def ask() -> Ask:
    return send


@pytest.fixture(scope="session")
def spec_counters() -> Callable[[Server], dict[str, float]]:
    return read_counters

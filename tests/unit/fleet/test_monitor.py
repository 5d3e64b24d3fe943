"""Checks go on while somebody looks, one per server at a time, and end with the process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from specviz.fleet.monitor import Monitor
from tests.support.servers.scripted_server import Script, serving


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    opened = Monitor(interval_s=0.01, linger_s=60)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(Script()) as address:
        yield address


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "fleet"]


def test_nothing_runs_before_somebody_looks(monitor: Monitor) -> None:
    assert threads() == [] and monitor.look([]) == {} and threads() == []


def test_a_look_begins_checks_that_end_when_nobody_looks(monitor: Monitor, url: str) -> None:
    assert monitor.look([url]) == {}
    until(lambda: monitor.look([url]))
    first = monitor.look([url])[url]
    until(lambda: monitor.known([url])[url].checked_at > first.checked_at)
    assert monitor.is_checking(url)
    monitor._looked_at[url] = float("-inf")
    until(lambda: not monitor.is_checking(url))
    monitor.look([url])
    until(lambda: monitor.is_checking(url))


def test_a_check_answers_for_all_of_them_at_once(monitor: Monitor, url: str) -> None:
    nobody = "http://127.0.0.1:9"
    found = monitor.check([url, nobody])
    assert found[url].is_up and not found[nobody].is_up
    assert not monitor.is_checking(url), "a command asks once"


def test_closing_ends_the_thread_and_what_waits_for_it(monitor: Monitor, url: str) -> None:
    monitor.look([url])
    monitor.close()
    assert threads() == [] and not monitor.is_checking(url)
    assert monitor.check(["http://127.0.0.1:9"]) == {}
    monitor.close()

"""The wait with which benchmarks time pages looks every few milliseconds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.started import chromium
from benchmarks.started.chromium import LOOK_EVERY_S, wait_until_visible


class Clock:
    """Time passes where somebody sleeps."""

    now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(chromium, "time", clock)
    return clock


def appearing(clock: Clock, at_s: float) -> Any:
    return SimpleNamespace(first=SimpleNamespace(is_visible=lambda: clock.now_s >= at_s))


def test_what_appears_is_seen_at_the_next_look(clock: Clock) -> None:
    wait_until_visible(appearing(clock, 0.402))
    assert 0.402 <= clock.now_s <= 0.402 + LOOK_EVERY_S


def test_what_never_appears_is_reported(clock: Clock) -> None:
    with pytest.raises(TimeoutError, match=r"0\.1 s"):
        wait_until_visible(appearing(clock, float("inf")), 0.1)

"""The browser that benchmarks and tests drive."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

EXECUTABLE = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]


@contextmanager
def chromium(*more_flags: str) -> Iterator[Browser]:
    """The system's Chromium without a window, closed at the end."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=[*FLAGS, *more_flags])
        yield browser
        browser.close()

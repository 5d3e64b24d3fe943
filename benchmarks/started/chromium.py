"""The browser that benchmarks and tests drive."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Locator, sync_playwright

from specviz.machine import find_chromium

CHROMIUM = "/usr/bin/chromium"
HEADLESS_SHELL = find_chromium() or CHROMIUM
"""The same without what draws windows, where it is installed: a page takes half the processor time.
For tests; figures are those of the browser that people have."""
FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"]


@contextmanager
def chromium(*more_flags: str, executable: str = CHROMIUM) -> Iterator[Browser]:
    """The system's Chromium without a window, closed at the end.

    Raises RuntimeError where it is not installed.
    """
    if shutil.which(executable) is None:
        raise RuntimeError(f"There is no {executable}: install the package chromium.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=[*FLAGS, *more_flags])
        yield browser
        browser.close()


LOOK_EVERY_S = 0.005


def wait_until_visible(locator: Locator, timeout_s: float = 60.0) -> None:
    """Return within milliseconds of the moment at which the first match is seen.

    Playwright's `wait_for` looks after 20, 70, 170 and 270 ms and from then on every 500 ms: what
    is timed by it is late by up to half a second. Raises TimeoutError.
    """
    deadline_s = time.monotonic() + timeout_s
    while not locator.first.is_visible():
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"{locator} was not seen within {timeout_s:g} s")
        time.sleep(LOOK_EVERY_S)

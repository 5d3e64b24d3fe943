"""The browser that benchmarks and tests drive."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

CHROMIUM = "/usr/bin/chromium"
HEADLESS_SHELL = shutil.which("chromium-headless-shell") or CHROMIUM
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

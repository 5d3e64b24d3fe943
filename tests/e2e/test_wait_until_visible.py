"""What the benchmarks time pages with, against Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from benchmarks.started.chromium import wait_until_visible

APPEARS = """<p hidden>late</p><script>
setTimeout(() => {
  document.querySelector('p').hidden = false;
  window.shown = performance.now();
}, 400);
</script>"""


def test_what_appears_is_seen_sooner_than_playwright_looks_again(page: Page) -> None:
    late_ms = []
    for _ in range(3):  # a process may be held up
        page.set_content(APPEARS)
        wait_until_visible(page.get_by_text("late"))
        late_ms.append(page.evaluate("performance.now() - window.shown"))
    assert min(late_ms) < 150  # Playwright looks after 270 ms and after 770 ms


def test_what_never_appears_is_reported(page: Page) -> None:
    page.set_content("<p hidden>never</p>")
    with pytest.raises(TimeoutError, match=r"0\.1 s"):
        wait_until_visible(page.get_by_text("never"), 0.1)

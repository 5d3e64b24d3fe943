"""Take the screenshots of docs/talk.md on a new database, and count the clicks between them.

    PYTHONPATH=. .venv/bin/python scripts/talk.py [FOLDER]

The talk is the way of a new user: from the first page to which K, and to what it saves.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page

from benchmarks.started.app import started_app
from benchmarks.started.chromium import chromium
from specviz.paths import PROJECT_ROOT

SLOW_MS = 60_000
MEASURED_MS = 600_000
SETTLED_MS = 1_500
"""Charts are drawn after the page says that it is finished."""


@dataclass
class Talk:
    """A page, its pictures so far, and the clicks that it took to come here."""

    page: Page
    folder: Path
    pictures: int = 0
    clicks: int = 0

    def click(self, where: Locator) -> None:
        where.click()
        self.clicks += 1

    def go_to(self, name: str) -> None:
        self.click(
            self.page.get_by_test_id("stSidebarNav").get_by_role("link", name=name, exact=True)
        )
        self.page.get_by_role("heading", level=1).wait_for()

    def show(self, name: str) -> None:
        self.page.wait_for_timeout(SETTLED_MS)
        self.pictures += 1
        self.page.screenshot(path=self.folder / f"{self.pictures}-{name}.png")
        print(f"{self.pictures}-{name}: {self.clicks} clicks since the first page")


def hold(talk: Talk) -> None:
    """From the first page to what it saves."""
    page = talk.page
    run = page.get_by_role("button", name="Run", exact=True)
    run.wait_for()
    talk.show("live")

    talk.click(run)
    page.locator(".pane[data-phase=finished]").nth(1).wait_for()
    talk.show("run")

    talk.click(page.locator(".step:has(.rejected) .tok").first)
    page.locator(".inspector .card").first.wait_for()
    talk.show("rejected")

    talk.click(page.get_by_role("button", name="Present"))
    page.locator(".presentation .caption").wait_for()
    talk.show("presented")
    page.keyboard.press("Escape")

    talk.go_to("Technique")
    measure = page.get_by_role("button", name="Measure", exact=True)
    measure.wait_for()
    talk.show("ways")
    talk.click(measure)
    pause = page.get_by_role("button", name="Pause", exact=True)
    pause.wait_for()
    pause.wait_for(state="hidden", timeout=MEASURED_MS)
    page.get_by_text("How sure:").wait_for()
    talk.show("technique")

    talk.go_to("K")
    talk.show("k")

    talk.go_to("Cost")
    talk.show("cost")

    talk.go_to("Runs")
    talk.show("runs")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PROJECT_ROOT / "docs" / "talk"
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as scratch,
        started_app(Path(scratch) / "runs.duckdb", Path(scratch) / "app.log") as url,
        chromium() as browser,
    ):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(SLOW_MS)
        page.goto(url)
        hold(Talk(page, folder))


if __name__ == "__main__":
    main()

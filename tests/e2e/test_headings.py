"""Every page begins with its name and what it is for, in the page and in the browser's tab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from specviz.views.shared.pages import LIVE, PAGES, K
from tests.support.apps.process import ROOT, running_app

pytestmark = pytest.mark.e2e

SLOW_MS = 40_000


@pytest.fixture(scope="module")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("headings")
    store = str(folder / "runs.duckdb")
    with running_app(ROOT / "app.py", folder / "app.log", SPECVIZ_STORE=store) as url:
        yield url


def test_every_page_has_a_heading_a_line_and_a_tab_of_its_own(page: Page, app_url: str) -> None:
    page.goto(app_url)
    for each in PAGES.values():
        page.get_by_role("link", name=each.title, exact=True).click()
        expect(page).to_have_title(f"{each.title} · specviz", timeout=SLOW_MS)
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_have_text(each.title)
        expect(page.get_by_text(each.purpose, exact=True)).to_be_visible()
        box = page.locator(".page-heading").bounding_box()
        assert box is not None and box["y"] + box["height"] < 70  # one row: the page follows


def test_a_narrow_window_hides_no_heading(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 768, "height": 900})
    for each in (LIVE, K):
        page.goto(f"{app_url}/{'' if each is LIVE else each.name}", wait_until="commit")
        expect(page.get_by_role("heading", level=1)).to_have_text(each.title, timeout=SLOW_MS)
        page.get_by_role("heading", level=1).click(timeout=5_000)  # nothing lies over it

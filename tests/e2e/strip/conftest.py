"""A Streamlit app that shows the token strip's scenarios, and a way to open one."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.support.apps.process import APPS, running_app
from tests.support.strip.reading import Opener, wait_until_drawn


@pytest.fixture(scope="session")
def strip_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("strip") / "app.log"
    with running_app(APPS / "strip.py", log) as url:
        yield url


@pytest.fixture
def open_strip(strip_url: str, page: Page) -> Opener:
    """Open a scenario: `open_strip("tree", mode="replay", size=1000)`."""

    def open_scenario(name: str, *, mode: str = "live", **query: object) -> Page:
        show(page, strip_url, name, mode, query)
        return page

    return open_scenario


@pytest.fixture(scope="module")
def drawn(strip_url: str, context: BrowserContext) -> Iterator[Opener]:
    """A scenario in a page that a file's tests share: `drawn("tree", mode="replay")`.

    It has been drawn, no step is open, nothing is selected, and the pointer is nowhere.
    """
    pages: dict[tuple[str, str], Page] = {}

    def open_scenario(name: str, *, mode: str = "live") -> Page:
        if (name, mode) not in pages:
            pages[name, mode] = context.new_page()
            show(pages[name, mode], strip_url, name, mode, {})
        page = pages[name, mode]
        page.bring_to_front()
        wait_until_drawn(page)
        if page.locator(".presentation").is_visible():
            page.get_by_role("button", name="Leave").click()
        if (close := page.locator(".inspector .close")).count():
            close.click()
        page.mouse.move(0, 0)
        page.evaluate("document.getSelection().removeAllRanges()")
        return page

    yield open_scenario
    for page in pages.values():
        expect(page.get_by_test_id("stException")).to_have_count(0)
        page.evaluate("localStorage.clear()")
        page.close()


def show(page: Page, url: str, name: str, mode: str, query: dict[str, object]) -> None:
    source = f"/ws/{name}/{uuid.uuid4().hex}?{urlencode({'mode': mode, **query})}"
    page.goto(f"{url}/?{urlencode({'source': source if name else '', 'mode': mode})}")
    page.locator(".strip-root").wait_for(state="attached")

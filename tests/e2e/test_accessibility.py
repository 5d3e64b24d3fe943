"""Pages and their states under axe: WCAG 2.2 A and AA, light and dark, three widths.

Every page is judged on its visit in `test_first_start.py`, in one theme at one width.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from specviz.views.shared.pages import LIVE, PAGES
from tests.support.accessibility import found_by_axe, judged, violations
from tests.support.browsers import settled

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000
WIDTHS = (640, 768, 1280)
"""640 is 1280 at 200 % zoom."""

ADDRESSES = [page.name if page is not LIVE else "" for page in PAGES.values()]
OPENED = ("runs?group=together", "runs?run=r1&section=Draft+tree", "compare?arms=r1,r2")


def open_step(page: Page, url: str) -> None:
    page.goto(f"{url}runs?group=together")
    settled(page)
    page.locator(".step:has(.draft) .tok").first.click(timeout=SLOW_MS)
    expect(page.locator(".inspector .card").first).to_be_visible()


def present(page: Page, url: str) -> None:
    """The step that is open."""
    page.get_by_role("button", name="Present").click()
    expect(page.locator(".presentation .caption")).not_to_be_empty()


def arms(page: Page, url: str) -> None:
    page.goto(url)
    settled(page)
    page.get_by_role("button", name="Arms: ").click(timeout=SLOW_MS)
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible()


def add_a_server(page: Page, url: str) -> None:
    page.goto(f"{url}servers")
    expect(page.get_by_text("not reachable since")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Add a URL").click()
    page.get_by_text("Kind, baseline, API key").click()
    expect(page.get_by_role("combobox", name="Baseline of")).to_be_visible()


STATES: dict[str, Callable[[Page, str], None]] = {
    "step": open_step,
    "presented": present,
    "arms": arms,
    "a server": add_a_server,
}


@pytest.fixture
def url(runs_url: str) -> str:
    return runs_url.removesuffix("runs")


@pytest.fixture(params=["light", pytest.param("dark", marks=pytest.mark.slow)])
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("address", [*ADDRESSES, *OPENED])
def test_no_page_has_a_violation_of_ours(
    page: Page, url: str, address: str, theme: str, width: int
) -> None:
    judged(page, theme, width).goto(f"{url}{address}")
    assert violations(page) == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [pytest.param(640, marks=pytest.mark.slow), 1280])
def test_no_state_has_a_violation_of_ours(page: Page, url: str, theme: str, width: int) -> None:
    judged(page, theme, width)
    for name, reach in STATES.items():
        reach(page, url)
        assert violations(page) == [], name


def test_axe_finds_what_is_wrong(page: Page) -> None:
    page.set_content("<main><p style='color:#bbb'>pale</p><button></button></main>")
    found = {found.split(":")[0] for found in found_by_axe(page)}
    assert {"color-contrast", "button-name"} <= found

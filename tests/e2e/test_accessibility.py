"""Pages and their states under axe: WCAG 2.2 A and AA, light and dark, three widths.

Left out is what Streamlit draws and no option of it changes (`STREAMLITS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from specviz.fleet.named import add_named, as_typed
from specviz.store import open_store
from specviz.views.shared.pages import LIVE, PAGES
from tests.support.apps.process import APPS, running_app
from tests.support.browsers import settled
from tests.support.runs.samples import fill

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000
OPTIONS = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    "resultTypes": ["violations"],  # naming what passes takes most of axe's time
}
STREAMLITS = {
    # the navigation's headings are divs between the items of one list
    ("list", "stSidebarNavItems"),
    ("listitem", "stSidebarNav"),
}
WIDTHS = (640, 768, 1280)
"""640 is 1280 at 200 % zoom."""

ADDRESSES = [page.name if page is not LIVE else "" for page in PAGES.values()]
OPENED = ("runs?group=together", "runs?run=r1&section=Draft+tree", "compare?arms=r1,r2")


NOT_FADED = """document.addEventListener('DOMContentLoaded', () => {
  const style = document.createElement('style');
  style.textContent = '[data-stale] { opacity: 1 !important; transition: none !important; }';
  document.head.append(style);
})"""
"""What a run that takes long is about to replace fades, which is Streamlit's."""


def open_step(page: Page) -> None:
    page.goto(f"{page.url}runs?group=together")
    settled(page)
    page.locator(".step:has(.draft) .tok").first.click(timeout=SLOW_MS)
    expect(page.locator(".inspector .card").first).to_be_visible()


def present(page: Page) -> None:
    open_step(page)
    page.get_by_role("button", name="Present").click()
    expect(page.locator(".presentation .caption")).not_to_be_empty()


def arms(page: Page) -> None:
    page.get_by_role("button", name="Arms: ").click(timeout=SLOW_MS)
    expect(page.get_by_test_id("stPopoverBody")).to_be_visible()


def add_a_server(page: Page) -> None:
    page.goto(f"{page.url}servers")
    expect(page.get_by_text("not reachable since")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Add a URL").click()
    page.get_by_text("Kind, baseline, API key").click()
    expect(page.get_by_role("combobox", name="Baseline of")).to_be_visible()


STATES: dict[str, Callable[[Page], None]] = {
    "step": open_step,
    "presented": present,
    "arms": arms,
    "a server": add_a_server,
}


@pytest.fixture(scope="module")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("axe")
    fill(folder / "runs.duckdb")
    with open_store(folder / "runs.duckdb") as store:
        add_named(store, as_typed("gpu-1", "http://127.0.0.1:9", labels=["GPU box"]))
    script = APPS / "embedded.py"
    store = str(folder / "runs.duckdb")
    with running_app(script, folder / "app.log", SPECVIZ_STORE=store) as url:
        yield url


@pytest.fixture(params=["light", pytest.param("dark", marks=pytest.mark.slow)])
def theme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("address", [*ADDRESSES, *OPENED])
def test_no_page_has_a_violation_of_ours(
    chromium: Browser, app_url: str, address: str, theme: str, width: int
) -> None:
    with opened(chromium, theme, width) as page:
        page.goto(f"{app_url}/{address}")
        assert violations(page) == []


@pytest.mark.parametrize("width", [pytest.param(640, marks=pytest.mark.slow), 1280])
@pytest.mark.parametrize("state", [*STATES])
def test_no_state_has_a_violation_of_ours(
    chromium: Browser, app_url: str, state: str, theme: str, width: int
) -> None:
    with opened(chromium, theme, width) as page:
        page.goto(f"{app_url}/")
        STATES[state](page)
        assert violations(page) == []


def test_axe_finds_what_is_wrong(chromium: Browser) -> None:
    with opened(chromium, "light", 1280) as page:
        page.set_content("<main><p style='color:#bbb'>pale</p><button></button></main>")
        found = {found.split(":")[0] for found in found_by_axe(page)}
    assert {"color-contrast", "button-name"} <= found


@contextmanager
def opened(chromium: Browser, theme: str, width: int) -> Iterator[Page]:
    """An empty page, closed also after a failure: its page would go on beside the next test."""
    context = chromium.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",  # colours on their way would be judged
    )
    context.set_default_timeout(SLOW_MS)
    context.add_init_script(NOT_FADED)
    with closing(context):
        yield context.new_page()


def violations(page: Page) -> list[str]:
    """What axe finds once the script has run, without what is Streamlit's own."""
    settled(page)
    return found_by_axe(page)


def found_by_axe(page: Page) -> list[str]:
    found = Axe().run(page, options=OPTIONS).response["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]} · {node.get('failureSummary', '')[:200]}"
        for violation in found
        for node in violation["nodes"]
        if not is_streamlits(page, violation["id"], node)
    ]


def is_streamlits(page: Page, rule: str, node: dict[str, object]) -> bool:
    places = [place for known, place in STREAMLITS if known == rule]
    target = node["target"]
    if not places or not isinstance(target, list) or not isinstance(target[-1], str):
        return False
    inside = ", ".join(f"[data-testid={place}], [data-testid={place}] *" for place in places)
    return bool(page.locator(target[-1]).first.evaluate("(node, css) => node.matches(css)", inside))

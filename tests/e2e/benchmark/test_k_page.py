"""The K page: first published figures and a formula, then a sweep started from it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.apps.process import APPS, running_app

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000
"""A page with charts, on two busy cores."""


@pytest.fixture(scope="module")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("k")
    script = APPS / "bench.py"
    store = str(folder / "runs.duckdb")
    with running_app(script, folder / "app.log", SPECVIZ_STORE=store) as url:
        yield url


def answer(page: Page, label: str) -> Locator:
    return page.get_by_test_id("stMetric").filter(has_text=label).first


def section(page: Page, name: str) -> None:
    page.get_by_test_id("stButtonGroup").last.get_by_text(name, exact=True).click()


def start_sweep(page: Page, url: str) -> None:
    """K 1 to 3 at two loads, through the section that does it; ends on the Benchmark page."""
    page.goto(f"{url}/k")
    loads = page.get_by_label("Concurrency", exact=True)
    expect(loads).to_be_visible(timeout=SLOW_MS)
    loads.fill("1, 4")
    loads.press("Enter")
    ks = page.get_by_label("K", exact=True)
    ks.fill("1-3, no")
    ks.press("Enter")
    expect(page.get_by_text("K cannot be '1-3, no': write whole numbers")).to_be_visible()
    ks.fill("5-1")
    ks.press("Enter")
    expect(page.get_by_text("K: 5-1 runs backwards, write 1-5.")).to_be_visible()
    ks.fill("1-3")
    ks.press("Enter")
    expect(page.get_by_text(re.compile("= 192 requests"))).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Start the sweep").click()
    expect(page).to_have_url(re.compile(r"/benchmark\?benchmark=\w+"), timeout=SLOW_MS)
    expect(page.get_by_text("finished").first).to_be_visible(timeout=SLOW_MS)


@pytest.mark.slow
def test_an_empty_store_has_the_published_figures_and_the_formula(
    page: Page, bare_url: str
) -> None:
    page.goto(f"{bare_url}/k?k_alpha=0.6&k_cost=0.05")
    expect(answer(page, "output speed")).to_contain_text("3.02×", timeout=SLOW_MS)
    expect(page.get_by_text("Formula: α 0.60, a draft token costs 0.05")).to_be_visible()
    memory = page.get_by_role("spinbutton", name="Memory to spare, GB")
    memory.fill("1")
    memory.press("Enter")
    expect(answer(page, "output speed")).to_contain_text("2.52×")
    expect(page).to_have_url(re.compile("k_memory=1"))


@pytest.mark.slow
def test_a_sweep_is_measured_and_predicted(page: Page, app_url: str) -> None:
    start_sweep(page, app_url)
    page.goto(f"{app_url}/k")
    expect(page.get_by_text("Measured here", exact=True)).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_text(re.compile("^Predicted from one run: K 3's steps"))).to_be_visible()
    section(page, "Policy")
    expect(page.get_by_text(re.compile("The embedded engine has no batch"))).to_be_visible()
    section(page, "Check and redraft")
    expect(page.get_by_role("button", name="Redraft exactly")).to_be_visible()

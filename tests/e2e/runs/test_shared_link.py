"""A link to one step of a stored run: the page follows it, and so does another machine's page."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from specviz.report import export
from specviz.store import open_store
from specviz.store.exchange import Format, import_file
from tests.support.apps.process import APPS, running_app
from tests.support.runs.samples import fill

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000
GROUP = "together"  # r1, a tree of Medusa's, and r2, a chain of EAGLE-3's


@pytest.fixture(scope="module")
def imported_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The Runs page of another machine, into whose store the two runs were imported."""
    folder = tmp_path_factory.mktemp("machines")
    fill(folder / "recorded.duckdb")
    with open_store(folder / "recorded.duckdb") as store:
        export(store, ["r1", "r2"], Format.JSONL, folder / "two.jsonl")
    with open_store(folder / "runs.duckdb") as store:
        import_file(store, folder / "two.jsonl")
    store_path = str(folder / "runs.duckdb")
    with running_app(APPS / "embedded.py", folder / "app.log", SPECVIZ_STORE=store_path) as url:
        yield f"{url}/runs"


def open_section(page: Page, name: str) -> None:
    page.get_by_test_id("stButtonGroup").first.get_by_text(name, exact=True).click()


@pytest.mark.slow
def test_a_clicked_step_has_its_tree_and_a_link_that_opens_it_where_the_run_was_imported(
    page: Page, runs_url: str, imported_url: str
) -> None:
    page.goto(f"{runs_url}?group={GROUP}")
    expect(page.locator(".controls output")).to_contain_text(" of ", timeout=SLOW_MS)
    open_section(page, "Draft tree")
    for pane, title in ((1, "eagle3"), (0, "medusa")):
        step = page.locator(".pane").nth(pane).locator(".step:has(.draft)").nth(2)
        step.locator(".tok").first.click()
        heading = page.locator(".inspector h3")
        expect(heading).to_have_text(re.compile(rf"^{title} .* · step \d+ of"))
        number = re.search(r"step (\d+) of", heading.inner_text())
        assert number is not None
        chosen = page.get_by_test_id("stButtonGroup").last.locator("[aria-checked=true]")
        expect(chosen).to_contain_text(title, timeout=SLOW_MS)
        expect(page.get_by_test_id("stSliderThumbValue").last).to_have_text(number[1])

    open_section(page, "Time line")
    expect(page).to_have_url(re.compile("section=Time"))
    page.locator("button[data-do=back]").click()
    page.locator(".pane").nth(1).locator(".step").nth(3).locator(".tok").first.click()
    heading = page.locator(".inspector h3").inner_text()
    time = page.locator(".controls output").inner_text()
    page.get_by_role("button", name="Copy link").first.click()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(runs_url)

    page.goto(link.replace(runs_url, imported_url))
    expect(page.locator(".inspector h3")).to_have_text(heading, timeout=SLOW_MS)
    expect(page.locator(".controls output")).to_have_text(time)
    chosen = page.get_by_test_id("stButtonGroup").first.locator("[aria-checked=true]")
    expect(chosen).to_have_text("Time line")

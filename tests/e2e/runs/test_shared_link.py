"""A link to one step of a stored run: the page follows it, and so does another machine's page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Machines:
    """Two apps: one that recorded the runs, one into whose store they were imported."""

    recorded: str
    imported: str


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("machines")
    stores = [folder / "here" / "runs.duckdb", folder / "there" / "runs.duckdb"]
    for path in stores:
        path.parent.mkdir()
    fill(stores[0])
    with open_store(stores[0]) as store:
        export(store, ["r1", "r2"], Format.JSONL, folder / "two.jsonl")
    with open_store(stores[1]) as store:
        import_file(store, folder / "two.jsonl")
    script = APPS / "embedded.py"
    with ExitStack() as apps:
        urls = [
            apps.enter_context(
                running_app(script, path.parent / "app.log", SPECVIZ_STORE=str(path))
            )
            for path in stores
        ]
        yield Machines(*urls)


def open_section(page: Page, name: str) -> None:
    page.get_by_test_id("stButtonGroup").first.get_by_text(name, exact=True).click()


def test_the_draft_tree_is_that_of_the_step_that_was_clicked(
    page: Page, machines: Machines
) -> None:
    page.goto(f"{machines.recorded}/runs?group={GROUP}")
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


def test_a_copied_link_opens_the_same_view_where_the_run_was_imported(
    page: Page, machines: Machines
) -> None:
    page.goto(f"{machines.recorded}/runs?group={GROUP}")
    expect(page.locator(".controls output")).to_contain_text(" of ", timeout=SLOW_MS)
    open_section(page, "Time line")
    expect(page).to_have_url(re.compile("section=Time"))
    page.locator("button[data-do=back]").click()
    page.locator(".pane").nth(1).locator(".step").nth(3).locator(".tok").first.click()
    heading = page.locator(".inspector h3").inner_text()
    time = page.locator(".controls output").inner_text()
    page.get_by_role("button", name="Copy link").first.click()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(machines.recorded)

    page.goto(link.replace(machines.recorded, machines.imported))
    expect(page.locator(".inspector h3")).to_have_text(heading, timeout=SLOW_MS)
    expect(page.locator(".controls output")).to_have_text(time)
    chosen = page.get_by_test_id("stButtonGroup").first.locator("[aria-checked=true]")
    expect(chosen).to_have_text("Time line")

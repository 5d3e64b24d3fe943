"""The Live page and an opened run with arms that run in the app, on made-up traces."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browsers import settled
from tests.support.demo_models import DEMO_TARGET, MODELS

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000
ENDLESS = 3000  # tokens: `apps/embedded.py` answers at a step in seconds
"""A page with four strips and a chart, on two busy cores."""


def longest_answer(page: Page, tokens: int) -> None:
    page.get_by_role("button", name="temperature").click()
    length = page.get_by_label("Longest answer, tokens")
    length.fill(str(tokens))
    length.press("Enter")
    expect(page.get_by_role("button", name=f"{tokens:,} tokens")).to_be_visible()
    page.keyboard.press("Escape")


def choose(page: Page, label: str, option: str, nth: int = 0) -> None:
    settled(page)
    page.get_by_role("combobox", name=label, exact=True).nth(nth).click()
    page.get_by_role("option", name=option, exact=True).click()


def set_arm(page: Page, arm: int, method: str) -> None:
    """Arms before it must be on: methods are counted."""
    choose(page, f"Arm {arm}", "in the app (embedded)")
    choose(page, "Method", method, arm - 1)


def run(page: Page, arms: int) -> None:
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".pane[data-phase=finished]")).to_have_count(arms, timeout=SLOW_MS)


def open_stored(page: Page) -> None:
    page.get_by_text("Open the stored run").click()
    expect(page).to_have_url(re.compile(r"/runs\?group="))
    expect(page.locator(".pane .tok").first).to_be_visible(timeout=SLOW_MS)


def open_section(page: Page, name: str) -> None:
    page.get_by_test_id("stButtonGroup").first.get_by_text(name, exact=True).click()


def chart(page: Page) -> Locator:
    return page.locator(".js-plotly-plot")


def test_a_new_user_needs_no_server_and_can_cancel(page: Page, bare_url: str) -> None:
    page.goto(bare_url)
    expect(page.get_by_text("no server, no GPU")).to_be_visible(timeout=SLOW_MS)
    servers = page.get_by_role("button", name="Start the servers")
    expect(servers).to_have_count(0)

    settled(page)  # an arm on a server offers to load it
    page.get_by_role("button", name="Arms").click()
    choose(page, "Arm 2", "vLLM, started here")
    settled(page)
    page.get_by_role("combobox", name="Method").nth(1).click()
    expect(page.get_by_role("option", name="ngram")).to_be_visible()
    expect(page.get_by_role("option", name="swift")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(servers).to_be_visible()
    choose(page, "Arm 2", "in the app (embedded)")
    expect(servers).to_have_count(0)
    page.keyboard.press("Escape")

    longest_answer(page, ENDLESS)
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".pane .box").first.wait_for(timeout=SLOW_MS)
    settled(page)
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".pane[data-phase=cancelled]").first).to_be_visible(timeout=SLOW_MS)
    expect(page.locator(".pane .box").first).to_be_visible()  # what arrived is kept

    longest_answer(page, 20)
    run(page, 2)
    expect(page.locator(".badge", has_text="in the app · traced")).to_have_count(2)
    expect(page.locator("[data-part=verdict]")).to_contain_text("equals the baseline")


def test_an_own_model_is_one_field(page: Page, bare_url: str, tmp_path: Path) -> None:
    shutil.copytree(DEMO_TARGET, tmp_path / "own")
    shutil.copytree(MODELS / "demo-medusa", tmp_path / "own-medusa")
    page.goto(bare_url)
    arms = page.get_by_role("button", name="Arms: ")
    expect(arms).to_contain_text("baseline · eagle3 K 5", timeout=SLOW_MS)
    type_model(page, tmp_path / "nowhere")
    expect(page.get_by_text("There is no folder")).to_be_visible(timeout=SLOW_MS)
    expect(arms).to_contain_text("baseline · eagle3 K 5")  # nothing is lost
    type_model(page, tmp_path / "own")
    expect(arms).to_contain_text("baseline · ngram K 5", timeout=SLOW_MS)
    arms.click()
    page.get_by_role("combobox", name="Method").nth(1).click()
    expect(page.get_by_role("option", name="medusa")).to_be_visible()
    expect(page.get_by_role("option", name="eagle3")).to_have_count(0)
    page.keyboard.press("Escape")
    run(page, 2)
    expect(page.locator(".badge", has_text="traced · own")).to_have_count(2)


def type_model(page: Page, path: Path) -> None:
    settled(page)
    field = page.get_by_role("combobox", name="Model")
    field.fill(str(path))
    field.press("Enter")


@pytest.mark.slow
def test_typical_acceptance_is_called_not_lossless_everywhere(page: Page, bare_url: str) -> None:
    page.goto(bare_url)
    settled(page)
    page.get_by_role("button", name="Arms").click()
    choose(page, "Method", "medusa", 1)
    expect(page.get_by_role("combobox", name="Shape")).to_have_value("tree")
    choose(page, "Acceptance", "typical: not lossless")
    run(page, 2)
    pane = page.locator(".pane").nth(1)
    expect(pane.locator(".title")).to_have_text("medusa · K 5 · tree · typical, not lossless")
    expect(pane.locator(".lossy")).to_be_visible()
    open_stored(page)
    expect(page.get_by_test_id("stAlert")).to_contain_text("does not follow the target's")
    expect(page.locator(".pane").nth(1).locator(".lossy")).to_be_visible()


@pytest.mark.slow
def test_the_sections_of_a_stored_run(page: Page, bare_url: str) -> None:
    page.goto(bare_url)
    settled(page)
    page.get_by_role("button", name="Arms").click()
    choose(page, "Method", "medusa", 1)
    set_arm(page, 3, "mirror")
    run(page, 3)
    open_stored(page)

    open_section(page, "Draft tree")
    expect(chart(page).locator(".annotation").first).to_be_visible(timeout=SLOW_MS)
    assert chart(page).locator(".annotation").count() > 20  # three, two, two and one candidates
    expect(page.get_by_text("numbers: target / draft probability")).to_be_visible()
    page.get_by_test_id("stButtonGroup").last.get_by_text("mirror · K 5").click()
    expect(page.get_by_text("drafted 5 in 5 depths")).to_be_visible(timeout=SLOW_MS)

    open_section(page, "Time line")
    expect(chart(page).get_by_text("both at once")).to_have_count(3, timeout=SLOW_MS)
    expect(chart(page).get_by_text("mirror · K 5")).to_be_visible()

    open_section(page, "Acceptance by position")
    expect(page.get_by_text("of the steps that reached this position")).to_be_visible()
    expect(chart(page)).to_have_count(2, timeout=SLOW_MS)
    expect(page.get_by_text("Not shown: baseline: nothing was drafted")).to_be_visible()

    open_section(page, "Extra memory")
    expect(chart(page).get_by_text("beyond plain decoding, MiB")).to_be_visible(timeout=SLOW_MS)

    expect(page.get_by_test_id("stButtonGroup").first).not_to_contain_text("Skipped layers")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_skipped_layers_are_shown_for_methods_that_skip_some(page: Page, bare_url: str) -> None:
    page.goto(bare_url)
    settled(page)
    page.get_by_role("button", name="Arms").click()
    choose(page, "Method", "swift", 1)
    run(page, 2)
    open_stored(page)
    open_section(page, "Skipped layers")
    expect(chart(page).get_by_text("attention 0")).to_be_visible(timeout=SLOW_MS)
    expect(chart(page).get_by_text("drafted tokens")).to_be_visible()

"""The Cost page with an empty store and no sample: published figures, changed, shared by URL."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsers import settled

pytestmark = pytest.mark.e2e

SLOW_MS = 30_000


@pytest.fixture
def cost_url(bare_url: str) -> str:
    return f"{bare_url}/cost"


def shown(page: Page, text: str) -> None:
    expect(page.get_by_text(text, exact=True).first).to_be_visible(timeout=SLOW_MS)


def choose(page: Page, label: str, option: str) -> None:
    settled(page)
    page.get_by_label(label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def fill(page: Page, label: str, value: str) -> None:
    box = page.get_by_label(label, exact=True)
    expect(box).to_have_count(1, timeout=SLOW_MS)  # not while one of another default goes
    box.fill(value)
    box.press("Enter")


def section(page: Page, name: str) -> None:
    page.get_by_test_id("stButtonGroup").get_by_text(name, exact=True).click()


def test_the_documents_case_and_what_is_changed_in_it(page: Page, cost_url: str) -> None:
    page.goto(cost_url)
    shown(page, "$0.00170")
    shown(page, "58 %")
    shown(page, "1.68 days")
    shown(page, "84,137 requests")
    expect(page.get_by_text(re.compile("saves up to concurrency ~53"))).to_be_visible()
    choose(page, "Technique", "Medusa-2")
    shown(page, "$0.00204")
    shown(page, "24,540 requests")  # its own published training, 50 dollars
    fill(page, "Requests per day", "100")
    shown(page, "never: the next retraining comes first")
    expect(page).to_have_url(re.compile("cost_technique=Medusa-2.*"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_every_section_and_what_the_documents_disagree_about(page: Page, cost_url: str) -> None:
    page.goto(f"{cost_url}?cost_technique=Medusa-2")
    shown(page, "$0.00204")
    section(page, "Payback")
    shown(page, "Paid so far, trainings included")
    section(page, "Sensitivity")
    shown(page, "What moves the saving per month most")
    expect(page.get_by_text("target updates per year (± 20 %)")).to_be_visible(timeout=SLOW_MS)
    section(page, "Published")
    expect(page.get_by_text("Published in the documents, not measured here")).to_have_count(2)
    page.get_by_text(re.compile("Where the documents disagree")).click()
    expect(page.get_by_text(re.compile("EAGLE-3 serves 7,680"))).to_be_visible(timeout=SLOW_MS)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_what_is_missing_is_named_with_what_to_do(page: Page, cost_url: str) -> None:
    page.goto(cost_url)
    shown(page, "$0.00170")
    choose(page, "GPU and offer", "L4 24GB")
    problem = page.get_by_test_id("stAlert")
    expect(problem).to_contain_text("Type what an hour of one GPU costs", timeout=SLOW_MS)
    fill(page, "$ per GPU hour", "0.8")
    shown(page, "$0.000104")  # 0.8 / 7680
    choose(page, "Requests/h", "measured here")
    expect(problem).to_contain_text("No benchmark is stored yet", timeout=SLOW_MS)
    choose(page, "Requests/h", "typed")
    shown(page, "throughput is not known")
    fill(page, "Requests/h with speculation", "3000")
    shown(page, "never: it saves nothing per request")
    fill(page, "Output tokens per request", "100")
    shown(page, "$2.67")  # 0.8 / 3000 requests / 100 tokens x 10^6
